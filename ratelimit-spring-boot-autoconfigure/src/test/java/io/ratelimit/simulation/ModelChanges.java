package io.ratelimit.simulation;

import java.util.List;
import java.util.Set;

/** What operators, and failures of the store, change in the buckets of a model. */
@SuppressWarnings({"LongDoubleConversion", "OperatorPrecedence"}) // Small numbers.
final class ModelChanges {

    private final ModelBuckets all;

    ModelChanges(ModelBuckets all) {
        this.all = all;
    }

    void reset(String name, boolean certain) {
        BucketBounds bucket = all.bucket(name);
        bucket.pass(all.now());
        bucket.least.clear();
        bucket.rules.clear();
        bucket.forgottenAt = all.now();
        bucket.forgottenLeases.forget(all.now() + bucket.longest);
        bucket.blocks.mayEnd();
        bucket.entries.replaceAll(BucketBounds.Entry::uncertain);
        bucket.graceUntil = all.now() + Model.SECOND;
        if (certain) {
            bucket.forget();
            bucket.held.forEach(take -> bucket.maybe.put(take, all.now() + Model.SECOND));
            bucket.held.clear();
            bucket.maybe.replaceAll(
                    (take, until) -> take.isCountedAgain() ? until : Math.min(until, all.now() + Model.SECOND));
        } else {
            bucket.held.forEach(take -> bucket.maybe.put(take, Long.MAX_VALUE));
            bucket.held.clear();
        }
    }

    void granted(String name, Numbers numbers, long permits) {
        BucketBounds bucket = all.bucket(name);
        bucket.pass(all.now());
        bucket.use(numbers);
        bucket.giveBack(permits);
        bucket.grants++;
        bucket.grantedAt = all.now();
        bucket.entries.replaceAll(BucketBounds.Entry::uncertain);
        bucket.graceUntil = all.now() + Model.SECOND;
    }

    /** @param others the instances that a message has to reach, so that they end their leases */
    void blocked(String name, Numbers numbers, long duration, boolean certain, Set<String> others) {
        BucketBounds bucket = all.bucket(name);
        bucket.pass(all.now());
        bucket.use(numbers);
        if (certain) {
            bucket.blocks.beginByOperator(bucket.calls, all.now() + duration, others, all.now() + bucket.longest);
        } else {
            bucket.blocks.mayBeginByOperator(all.now() + duration);
        }
    }

    /** The message of a change of a bucket has reached an instance. */
    void told(String name, String instance) {
        BucketBounds bucket = all.bucket(name);
        bucket.blocks.inform(instance);
        bucket.forgottenLeases.end(instance);
    }

    void unblocked(String name, Numbers numbers, boolean certain) {
        BucketBounds bucket = all.bucket(name);
        bucket.pass(all.now());
        bucket.use(numbers);
        bucket.graceUntil = all.now() + Model.SECOND;
        if (certain) {
            bucket.blocks.end();
        } else {
            bucket.blocks.mayEnd();
        }
    }

    /** A fault begins, and overtakes the releases of an instance that the store has not confirmed yet. */
    void releasesMayBeLost(String instance, long longer) {
        all.buckets
                .values()
                .forEach(bucket -> bucket.maybe.replaceAll((take, until) -> {
                    boolean underWay =
                            take.ended && until >= all.now() && take.isShared() && take.instance.equals(instance);
                    return underWay ? Math.max(until, all.now() + take.hold() * 4 / 3 + longer) : until;
                }));
    }

    /** The store has lost everything. */
    void lost(String prefix) {
        all.buckets.forEach((name, bucket) -> {
            if (name.startsWith(prefix)) {
                bucket.pass(all.now());
                bucket.least.clear();
                bucket.rules.clear();
                bucket.forgottenAt = all.now();
                bucket.forgottenLeases.forget(all.now() + bucket.longest);
                bucket.blocks.mayEnd();
                bucket.entries.replaceAll(BucketBounds.Entry::uncertain);
                ModelBuckets.unsure(List.copyOf(bucket.held));
                // An instance that does not know yet of a reset counts them again.
                ModelBuckets.unsure(bucket.maybe.keySet());
                bucket.maybe.replaceAll((take, until) -> take.ended ? until : Long.MAX_VALUE);
            }
        });
    }

    /** The store's clock was set back: nothing comes back twice, and no call waits for longer than one window. */
    void setBack(String prefix, long by) {
        all.buckets.forEach((name, bucket) -> {
            if (name.startsWith(prefix)) {
                bucket.maybe.replaceAll((take, until) -> until == Long.MAX_VALUE ? until : until + by);
                bucket.held.forEach(take -> take.setBack += by);
                bucket.maybe.keySet().forEach(take -> take.setBack += by);
            }
            if (name.startsWith(prefix) && bucket.last != null) {
                bucket.pass(all.now());
                bucket.frozen = true;
                bucket.isVague = true;
                bucket.isDoubted = true;
                bucket.forgottenAt = all.now();
                bucket.entries.replaceAll(
                        entry -> entry.to() >= bucket.knownAt - 2 * bucket.longest ? entry.at(all.now()) : entry);
                bucket.most += bucket.fastest * Math.min(by, all.now() - bucket.knownAt);
                bucket.blocks.setBack(all.now(), by);
            }
        });
    }
}
