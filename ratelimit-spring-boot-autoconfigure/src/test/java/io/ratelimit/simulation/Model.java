package io.ratelimit.simulation;

import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * What may be observed, by the contract alone: nothing here knows how the starter works. What is not known exactly, such as
 * whether a charge was made whose reply was lost, is between two bounds: {@code least} is what has certainly been taken,
 * {@code most} what may have been taken. All times are microseconds of the simulation.
 */
@SuppressWarnings({"LongDoubleConversion", "OperatorPrecedence", "AnnotateFormatMethod"}) // Small numbers.
final class Model {

    /** Instances may disagree for so long, and what one caches may be so old. */
    static final long SECOND = 1_050_000;

    /** The longest by which a block may end late. */
    private static final long SLACK = 1_000;

    /** What is left of a permit by rounding. */
    static final double ROUNDING = 1e-3;

    private final Map<String, BucketBounds> buckets = new LinkedHashMap<>();

    private final LongSupplier clock;

    /** The first one, which a future of the starter may have swallowed. */
    private @Nullable AssertionError violation;

    private record Later(long due, Runnable change) {}

    private final List<Later> later = new ArrayList<>();

    /** @param clock microseconds */
    Model(LongSupplier clock) {
        this.clock = clock;
    }

    private long now() {
        return clock.getAsLong();
    }

    /** Makes the changes that are due. */
    void pass() {
        if (violation != null) {
            throw violation;
        }
        for (Later due : List.copyOf(later)) {
            if (due.due <= now()) {
                later.remove(due);
                due.change.run();
            }
        }
    }

    private void later(long delay, Runnable change) {
        later.add(new Later(now() + delay, change));
    }

    BucketBounds bucket(String name) {
        return buckets.computeIfAbsent(name, added -> new BucketBounds(added, now()));
    }

    /** A call is on its way. */
    Take ask(String bucket, Numbers numbers, long permits, String instance) {
        BucketBounds of = bucket(bucket);
        of.pass(now());
        of.use(numbers);
        Take take = new Take(of, numbers, permits, instance, now());
        of.flying.add(take);
        of.most += permits;
        of.entries.add(entry(take, permits, false));
        return take;
    }

    private BucketBounds.Entry entry(Take take, double permits, boolean certain) {
        return new BucketBounds.Entry(take, permits, certain, take.sent, now());
    }

    private void land(Take take, boolean taken) {
        if (take.flying) {
            take.flying = false;
            take.taken = taken;
            take.bucket.flying.remove(take);
            for (BucketBounds.Suspicion suspicion : List.copyOf(take.bucket.suspicions)) {
                suspicion.others().remove(take);
                if (taken) {
                    take.bucket.suspicions.remove(suspicion);
                } else if (suspicion.others().isEmpty()) {
                    take.bucket.suspicions.remove(suspicion);
                    take.bucket.possiblyBlockedUntil = suspicion.before();
                    take.bucket.graceUntil = Math.max(take.bucket.graceUntil, now() + 1_000);
                }
            }
        }
    }

    /** A limit allows a call, which takes the permits. */
    void admitted(Take take) {
        BucketBounds bucket = take.bucket;
        Numbers numbers = take.numbers;
        bucket.pass(now());
        bucket.thaw();
        bucket.know(numbers);
        bucket.isVague |= now() > take.sent;
        double slack = switch (numbers.kind()) {
            case EVEN, LOG, CONCURRENCY -> 0;
            case BATCHES, WINDOWS -> numbers.capacity();
        };
        double capacity = numbers.capacity() + slack + numbers.rate() * numbers.maxWait() + bucket.leaseSlack;
        double used = bucket.leastUsed(numbers);
        check(
                !bucket.isExact(numbers) || used + take.permits <= capacity + ROUNDING,
                "admitted more than the contract allows: %s while %.3f of %s are taken",
                take,
                used,
                numbers);
        check(
                take.sent < bucket.blockedFrom || now() >= bucket.certainlyBlockedUntil,
                "admitted although the key is blocked (%s): %s",
                bucket.blockedBy,
                take);
        land(take, true);
        if (take.sent <= bucket.forgottenAt) {
            // It may have been taken before everything was forgotten.
            if (numbers.kind() == Numbers.Kind.CONCURRENCY) {
                bucket.maybe.put(take, Long.MAX_VALUE);
            }
        } else if (numbers.kind() == Numbers.Kind.CONCURRENCY) {
            bucket.held.add(take);
        } else {
            bucket.take(take.permits, numbers, now() - take.sent);
            bucket.entries.removeIf(entry -> entry.take() == take);
            bucket.entries.add(entry(take, take.permits, true));
        }
    }

    /** A limit rejects a call. */
    void rejectedBy(Take take) {
        BucketBounds bucket = take.bucket;
        Numbers numbers = take.numbers;
        bucket.pass(now());
        bucket.thaw();
        bucket.know(numbers);
        bucket.isVague |= now() > take.sent;
        boolean blocked = take.sent <= bucket.possiblyBlockedUntil;
        double used = bucket.mostUsed(numbers) + numbers.lease() * 3;
        boolean violates = exceeds(used + take.provisional(), take);
        check(
                !bucket.isExact(numbers) || blocked || violates || now() <= bucket.graceUntil,
                "rejected without a violation: %s, at most %.3f of %s are taken",
                take,
                used - take.permits,
                numbers);
        // Of several durations, the first may have ended, though the last would not have.
        boolean mayBegin = bucket.possiblyBlockedUntil - now() <= SLACK
                || violates && numbers.blockFor().size() > 1;
        if (!numbers.blockFor().isEmpty() && mayBegin) {
            Set<Take> others = new LinkedHashSet<>(bucket.flying);
            others.remove(take);
            double provisional =
                    others.stream().mapToLong(other -> other.permits).sum();
            boolean certain = exceeds(used - provisional, take);
            if (!certain && others.isEmpty()) {
                // No call has taken what counted: no violation.
                return;
            }
            if (!certain) {
                bucket.suspicions.add(new BucketBounds.Suspicion(others, bucket.possiblyBlockedUntil, now()));
            }
            long longest =
                    numbers.blockFor().stream().mapToLong(Long::longValue).max().orElseThrow();
            bucket.possiblyBlockedUntil = Math.max(bucket.possiblyBlockedUntil, now() + longest + SLACK);
        }
    }

    /** Returns whether so much is more than the capacity, or may be so by rounding: equal numbers are not rounded. */
    private static boolean exceeds(double used, Take take) {
        double over = used - take.numbers.capacity();
        return over > -ROUNDING && (over != 0 || take.bucket.isVague);
    }

    /** A call that was rejected, or not decided, has taken nothing. */
    void notTaken(Take take) {
        if (take.flying) {
            take.bucket.pass(now());
            take.bucket.isVague |= now() > take.sent;
            // What is charged by one of several rules, and refunded, may stay charged by the others.
            if (!take.bucket.severalRules) {
                take.bucket.most = Math.max(0, take.bucket.most - take.permits);
                take.bucket.entries.removeIf(entry -> entry.take() == take);
            }
            land(take, false);
        }
    }

    /** It is not known whether a call has taken the permits. */
    void unknown(Take take) {
        take.bucket.isVague = true;
        if (take.numbers.kind() == Numbers.Kind.CONCURRENCY && take.flying) {
            take.bucket.maybe.put(take, now() + take.numbers.hold() * 4 / 3 + 2 * SECOND);
        }
        land(take, true);
    }

    /** A call that holds permits has ended. */
    void ended(Take take, long longest) {
        take.ended = true;
        if (take.bucket.held.remove(take) || take.bucket.maybe.containsKey(take)) {
            take.bucket.maybe.merge(take, now() + longest, Math::min);
        }
    }

    /** The store may have lost the permits of these calls. */
    void unsure(Collection<Take> takes) {
        for (Take take : takes) {
            if (take.bucket.held.remove(take)) {
                take.bucket.maybe.put(take, Long.MAX_VALUE);
            }
        }
    }

    /** A call turns out to cost more or less. It is charged as soon as {@code delay}; negative: it may be lost. */
    void settled(Take take, long cost, long delay) {
        BucketBounds bucket = take.bucket;
        long more = cost - take.permits;
        bucket.pass(now());
        bucket.use(take.numbers);
        if (more > 0) {
            bucket.most += more;
            bucket.entries.add(entry(take, more, false));
            if (delay >= 0) {
                long since = now();
                later(delay, () -> {
                    bucket.pass(now());
                    // Charges by other rules meanwhile count up to the capacity of each, so that the order would
                    // matter.
                    if (since > bucket.forgottenAt && !bucket.severalRules) {
                        bucket.take(more, take.numbers, now() - since);
                    }
                });
            }
        } else if (more < 0) {
            bucket.giveBack(-more);
            if (delay >= 0 && take.sent > bucket.forgottenAt && !bucket.severalRules) {
                double back = Math.max(0, -more - bucket.fastest * (now() - take.sent));
                later(delay + SECOND, () -> {
                    if (take.sent > bucket.forgottenAt) {
                        bucket.most = Math.max(0, bucket.most - back);
                    }
                });
            }
            bucket.graceUntil = Math.max(bucket.graceUntil, now() + SECOND + Math.max(0, delay));
        }
    }

    /** The store may be told of more that a call has cost. */
    void mayBeTaken(String name, Take take, long permits) {
        BucketBounds bucket = bucket(name);
        bucket.pass(now());
        bucket.isVague = true;
        bucket.most += permits;
        bucket.entries.add(entry(take, permits, false));
    }

    /** What was kept while the store failed has been charged. */
    void kept(String name, Take first, long permits, long since) {
        BucketBounds bucket = bucket(name);
        bucket.pass(now());
        bucket.use(first.numbers);
        bucket.isVague = true;
        bucket.take(permits, first.numbers, now() - since);
    }

    void reset(String name, boolean certain) {
        BucketBounds bucket = bucket(name);
        bucket.pass(now());
        bucket.least.clear();
        bucket.forgottenAt = now();
        bucket.certainlyBlockedUntil = 0;
        bucket.entries.replaceAll(BucketBounds.Entry::uncertain);
        bucket.graceUntil = now() + SECOND;
        if (certain) {
            bucket.most = bucket.flying.stream().mapToLong(take -> take.permits).sum();
            bucket.entries.removeIf(entry -> !bucket.flying.contains(entry.take()));
            bucket.possiblyBlockedUntil = BucketBounds.NEVER;
            bucket.isDoubted = false;
            bucket.suspicions.clear();
            bucket.held.forEach(take -> bucket.maybe.put(take, now() + SECOND));
            bucket.held.clear();
            bucket.maybe.replaceAll((take, until) -> Math.min(until, now() + SECOND));
        } else {
            bucket.held.forEach(take -> bucket.maybe.put(take, Long.MAX_VALUE));
            bucket.held.clear();
        }
    }

    void granted(String name, Numbers numbers, long permits) {
        BucketBounds bucket = bucket(name);
        bucket.pass(now());
        bucket.use(numbers);
        bucket.giveBack(permits);
        bucket.entries.replaceAll(BucketBounds.Entry::uncertain);
        bucket.graceUntil = now() + SECOND;
    }

    void blocked(String name, Numbers numbers, long duration, boolean certain) {
        BucketBounds bucket = bucket(name);
        bucket.pass(now());
        bucket.use(numbers);
        bucket.possiblyBlockedUntil = Math.max(bucket.possiblyBlockedUntil, now() + duration + SLACK);
        if (certain) {
            bucket.blockedFrom = now();
            bucket.certainlyBlockedUntil = now() + duration;
            bucket.blockedBy = "by an operator";
        }
    }

    void unblocked(String name, Numbers numbers, boolean certain) {
        BucketBounds bucket = bucket(name);
        bucket.pass(now());
        bucket.use(numbers);
        bucket.certainlyBlockedUntil = 0;
        bucket.graceUntil = now() + SECOND;
        if (certain) {
            bucket.possiblyBlockedUntil = BucketBounds.NEVER;
            bucket.suspicions.clear();
        }
    }

    /** The store has lost everything. */
    void lost(String prefix) {
        buckets.forEach((name, bucket) -> {
            if (name.startsWith(prefix)) {
                bucket.pass(now());
                bucket.least.clear();
                bucket.forgottenAt = now();
                bucket.certainlyBlockedUntil = 0;
                bucket.entries.replaceAll(BucketBounds.Entry::uncertain);
                unsure(List.copyOf(bucket.held));
                // An instance that does not know yet of a reset counts them again.
                bucket.maybe.replaceAll((take, until) -> take.ended ? until : Long.MAX_VALUE);
            }
        });
    }

    /** The store's clock was set back: nothing comes back twice, and no call waits for longer than one window. */
    void setBack(String prefix, long by) {
        buckets.forEach((name, bucket) -> {
            if (name.startsWith(prefix)) {
                bucket.maybe.replaceAll((take, until) -> until == Long.MAX_VALUE ? until : until + by);
            }
            if (name.startsWith(prefix) && bucket.last != null) {
                bucket.pass(now());
                bucket.frozen = true;
                bucket.isVague = true;
                bucket.isDoubted = true;
                bucket.forgottenAt = now();
                bucket.entries.replaceAll(
                        entry -> entry.to() >= bucket.knownAt - 2 * bucket.longest ? entry.at(now()) : entry);
                bucket.most += bucket.fastest * Math.min(by, now() - bucket.knownAt);
                bucket.certainlyBlockedUntil = 0;
                bucket.blockLeft = Math.max(0, bucket.possiblyBlockedUntil - now());
                bucket.possiblyBlockedUntil += bucket.blockLeft > 0 ? by : 0;
            }
        });
    }

    /** What is left in a bucket, as the store says. */
    void remaining(String name, Numbers numbers, long remaining) {
        BucketBounds bucket = bucket(name);
        bucket.pass(now());
        double least = Math.min(numbers.capacity(), bucket.leastUsed(numbers));
        double most = bucket.mostUsed(numbers);
        if (numbers.kind() != Numbers.Kind.WINDOWS && numbers.kind() != Numbers.Kind.BATCHES) {
            check(
                    remaining <= numbers.capacity() - least + bucket.leaseSlack + 1 + ROUNDING,
                    "what was taken is gone: %d left in %s, at least %.3f are taken, %s",
                    remaining,
                    name,
                    least,
                    numbers);
        }
        check(
                remaining >= Math.floor(numbers.capacity() - most - 3 * numbers.lease() - ROUNDING)
                        || remaining == 0 && most >= numbers.capacity()
                        || now() <= bucket.possiblyBlockedUntil
                        || bucket.isDoubted,
                "something is taken that no call has: %d left in %s, at most %.3f are taken, %s",
                remaining,
                name,
                most,
                numbers);
    }

    /** What is owed by a bucket, as the store says: the time until it is full again. */
    void resetAfter(String name, Numbers numbers, long micros) {
        BucketBounds bucket = bucket(name);
        bucket.pass(now());
        if (numbers.kind() == Numbers.Kind.EVEN) {
            double least = bucket.leastUsed(numbers);
            check(
                    micros * numbers.rate() >= least - 1 - bucket.leaseSlack,
                    "a cost was neither settled nor counted as lost: %.3f are owed in %s, and at least %.3f should be, %s",
                    micros * numbers.rate(),
                    name,
                    least,
                    numbers);
        }
    }

    /** Checks that an instance applies what the contract says. */
    static void effective(String instance, String limit, Attributes expected, Attributes applied) {
        if (!expected.equals(applied)) {
            throw new AssertionError("%s: %s is %s instead of %s".formatted(instance, limit, applied, expected));
        }
    }

    private void check(boolean holds, String message, Object... details) {
        if (!holds) {
            AssertionError found = new AssertionError(message.formatted(details));
            violation = violation == null ? found : violation;
            throw found;
        }
    }
}
