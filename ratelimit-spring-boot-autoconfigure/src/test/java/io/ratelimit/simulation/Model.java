package io.ratelimit.simulation;

import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.Set;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;

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
    static final long SLACK = 1_000;

    /** What is left of a permit by rounding. */
    static final double ROUNDING = 1e-3;

    /** What sums of nothing may come to. */
    private static final double NOTHING = 1e-6;

    private final ModelBuckets all;

    final ModelChanges changes;

    final ModelInspections inspections;

    /** @param clock microseconds */
    Model(LongSupplier clock) {
        all = new ModelBuckets(clock);
        changes = new ModelChanges(all);
        inspections = new ModelInspections(all);
    }

    /** Makes the changes that are due. */
    void pass() {
        all.pass();
    }

    /** Does what an observer does, so that what it throws is a violation. */
    void observe(Runnable work) {
        all.observe(work);
    }

    /** A call is on its way. */
    Take ask(String bucket, Numbers numbers, long permits, String instance) {
        BucketBounds of = all.bucket(bucket);
        of.pass(all.now());
        of.use(numbers);
        Take take = new Take(of, numbers, permits, instance, all.now());
        of.flying.add(take);
        of.most += permits;
        of.entries.add(entry(take, permits, false));
        return take;
    }

    private BucketBounds.Entry entry(Take take, double permits, boolean certain) {
        return new BucketBounds.Entry(take, permits, certain, take.sent, all.now());
    }

    private void land(Take take, boolean taken) {
        if (take.flying) {
            take.flying = false;
            take.taken = taken;
            take.bucket.flying.remove(take);
            if (taken) {
                take.bucket.charged();
            }
            if (!taken) {
                mayHaveBeenRefunded(take);
            }
            if (take.bucket.blocks.land(take, taken)) {
                take.bucket.graceUntil = Math.max(take.bucket.graceUntil, all.now() + 1_000);
            }
        }
    }

    /** A limit allows a call, which takes the permits. */
    void admitted(Take take) {
        BucketBounds bucket = take.bucket;
        Numbers numbers = take.numbers;
        bucket.pass(all.now());
        bucket.thaw();
        bucket.know(numbers);
        bucket.isVague |= all.now() > take.sent;
        double slack = switch (numbers.kind()) {
            case EVEN, LOG, CONCURRENCY -> 0;
            case BATCHES, WINDOWS, OWN -> numbers.capacity();
        };
        double capacity = numbers.capacity() + slack + numbers.rate() * numbers.maxWait();
        double used = bucket.leastUsed(numbers);
        all.check(
                !bucket.isExact(numbers) || used + take.permits <= capacity + ROUNDING,
                "admitted more than the contract allows: %s while %.3f of %s are taken",
                take,
                used,
                numbers);
        all.check(bucket.blocks.admits(take, all.now()), "admitted although an operator has blocked the key: %s", take);
        mayHaveBeenTakenLate(take);
        land(take, true);
        if (take.mayBeForgotten()) {
            if (numbers.kind() == Numbers.Kind.CONCURRENCY) {
                bucket.maybe.put(take, Long.MAX_VALUE);
            }
        } else if (numbers.kind() == Numbers.Kind.CONCURRENCY) {
            bucket.held.add(take);
        } else {
            double charged = take.permits - bucket.forgottenLeases.take(take, all.now());
            bucket.take(charged, numbers, all.now() - take.sent);
            bucket.entries.removeIf(entry -> entry.take() == take);
            bucket.entries.add(entry(take, take.permits, true));
        }
    }

    /** What is taken now does not come back as early as if it had been taken when the call was sent. */
    private void mayHaveBeenTakenLate(Take take) {
        if (take.flying) {
            take.bucket.most += Math.min(take.permits, take.bucket.fastest * (all.now() - take.sent));
            take.bucket.entries.replaceAll(entry -> entry.take() == take ? entry.at(all.now()) : entry);
        }
    }

    /** A limit rejects a call. */
    void rejectedBy(Take take) {
        take.rejected = true;
        BucketBounds bucket = take.bucket;
        Numbers numbers = take.numbers;
        bucket.pass(all.now());
        bucket.thaw();
        bucket.know(numbers);
        bucket.isVague |= all.now() > take.sent;
        boolean blocked = take.sent <= bucket.blocks.possiblyUntil();
        double used = bucket.mostUsed(numbers) + numbers.lease() * 3;
        boolean violates = exceeds(used + take.provisional(), take);
        all.check(
                !bucket.isExact(numbers) || blocked || violates || all.now() <= bucket.graceUntil,
                "rejected without a violation: %s, at most %.3f of %s are taken",
                take,
                used - take.permits,
                numbers);
        if (!mayBlock(take)) {
            return;
        }
        Set<Take> others = new LinkedHashSet<>(bucket.flying);
        others.remove(take);
        double provisional = others.stream().mapToLong(other -> other.permits).sum();
        long until = all.now() + longestBlock(numbers);
        if (mayViolate(take, provisional)) {
            // Of several durations, the first may end, though the last would not.
            boolean certain = bucket.isExact(numbers)
                    && all.now() > bucket.graceUntil
                    && numbers.blockFor().size() == 1
                    && bucket.blocks.possiblyUntil() - all.now() <= SLACK;
            if (certain) {
                bucket.blocks.begin(until);
            } else {
                bucket.blocks.mayBegin(until);
            }
        } else if (!others.isEmpty()) {
            bucket.blocks.suspect(others, until);
        }
    }

    /** Returns whether a rejection of the call blocks the key: not if it can never succeed, and not if the key is blocked. */
    private static boolean mayBlock(Take take) {
        Numbers numbers = take.numbers;
        return !numbers.blockFor().isEmpty()
                && !numbers.dryRun()
                && take.permits <= numbers.capacity()
                && !take.bucket.blocks.isSure(take.bucket.at);
    }

    /** Returns whether other calls, but for those under way, may have taken too much at some time since the call was sent. */
    private static boolean mayViolate(Take take, double provisional) {
        double taken = take.bucket.mostUsed(take.numbers, take.sent) - take.permits - provisional;
        return taken > NOTHING && exceeds(taken + take.permits, take);
    }

    private static long longestBlock(Numbers numbers) {
        return numbers.blockFor().stream().mapToLong(Long::longValue).max().orElseThrow() + SLACK;
    }

    /** Returns whether so much is more than the capacity, or may be so by rounding: equal numbers are not rounded. */
    private static boolean exceeds(double used, Take take) {
        double over = used - take.numbers.capacity();
        return over > -ROUNDING && (over != 0 || take.bucket.isVague);
    }

    /** A call that was rejected, or not decided, has taken nothing. */
    void notTaken(Take take) {
        if (take.flying) {
            take.bucket.pass(all.now());
            // The store has a state of a rule also if another limit rejects the call.
            take.bucket.know(take.numbers);
            take.bucket.isVague |= all.now() > take.sent;
            if (!take.rejected) {
                take.bucket.charged();
            }
            boolean returned = take.numbers.kind() != Numbers.Kind.OWN && take.bucket.isReturnedByAll(take);
            if (take.rejected || returned) {
                double back = take.bucket.fastest * (all.now() - take.sent);
                take.bucket.most = Math.max(0, take.bucket.most - Math.max(0, take.permits - back));
                take.bucket.entries.removeIf(entry -> entry.take() == take);
            }
            land(take, false);
        }
    }

    /** A call ends before its decision. What was sent may still take the permits, no later than after {@code delay}. */
    void cancelled(Take take, long delay) {
        all.later(delay, () -> {
            if (take.flying) {
                unknown(take);
            }
        });
    }

    /** It is not known whether a call has taken the permits. */
    void unknown(Take take) {
        take.bucket.pass(all.now());
        mayHaveBeenTakenLate(take);
        take.bucket.isVague = true;
        if (take.numbers.kind() == Numbers.Kind.CONCURRENCY && take.flying) {
            take.bucket.maybe.put(take, all.now() + take.numbers.hold() * 4 / 3 + 2 * SECOND);
        }
        if (take.flying) {
            take.bucket.unanswered.add(take);
            mayHaveBeenRefunded(take);
            mayHaveBeenRejected(take);
            all.later(Member.LATE, () -> {
                take.bucket.pass(all.now());
                take.bucket.unanswered.remove(take);
                take.bucket.most += Math.min(take.permits, take.bucket.fastest * Member.LATE);
                take.bucket.entries.replaceAll(entry -> entry.take() == take ? entry.at(all.now()) : entry);
                mayHaveBeenRejected(take);
            });
        }
        land(take, true);
    }

    /** The refund of a charge from before a reset or a grant may have returned what other calls have taken since. */
    private static void mayHaveBeenRefunded(Take take) {
        if (take.mayBeForgotten()) {
            take.bucket.giveBack(take.permits);
        }
    }

    private void mayHaveBeenRejected(Take take) {
        if (mayBlock(take) && mayViolate(take, 0)) {
            take.bucket.blocks.mayBegin(all.now() + longestBlock(take.numbers));
        }
    }

    /** A call that holds permits has ended. */
    void ended(Take take, long longest) {
        take.ended = true;
        if (take.bucket.held.remove(take) || take.bucket.maybe.containsKey(take)) {
            take.bucket.maybe.merge(take, all.now() + longest, Math::min);
        }
    }

    /** The store may have lost the permits of these calls. */
    void unsure(Collection<Take> takes) {
        ModelBuckets.unsure(takes);
    }

    /**
     * A call turns out to cost more or less.
     *
     * @param delay when it is charged; negative: it may be lost
     * @param isMade asked after that time: whether it has certainly been charged
     */
    void settled(Take take, long cost, long delay, BooleanSupplier isMade) {
        BucketBounds bucket = take.bucket;
        long more = cost - take.permits;
        bucket.pass(all.now());
        bucket.use(take.numbers);
        if (more > 0) {
            bucket.cost(take, more, all.now() + (delay < 0 ? 2 * SECOND : delay > Member.SOON ? delay : 0));
            if (delay >= 0) {
                long since = all.now();
                int grants = bucket.grants;
                all.later(delay, () -> {
                    bucket.pass(all.now());
                    // Charges by other rules meanwhile count up to the capacity of each, so that the order would
                    // matter.
                    boolean isKnown = since > bucket.forgottenAt && grants == bucket.grants && !bucket.severalRules;
                    if (isKnown && isMade.getAsBoolean()) {
                        bucket.take(more, take.numbers, all.now() - since);
                    }
                });
            }
        } else if (more < 0) {
            if (take.mayBeForgotten()) {
                all.later(delay >= 0 ? delay : 2 * SECOND, bucket.refunding(-more));
            } else {
                bucket.giveBack(-more);
            }
            if (delay >= 0 && take.sent > bucket.forgottenAt && bucket.isReturnedByAll(take)) {
                double back = Math.max(0, -more - bucket.fastest * (all.now() - take.sent));
                long since = all.now();
                all.later(delay + SECOND, () -> {
                    if (take.sent > bucket.forgottenAt && isMade.getAsBoolean()) {
                        // Meanwhile the permits may have come back anyhow.
                        double left = Math.max(0, back - bucket.fastest * (all.now() - since));
                        bucket.most = Math.max(0, bucket.most - left);
                    }
                });
            }
            bucket.graceUntil = Math.max(bucket.graceUntil, all.now() + SECOND + Math.max(0, delay));
        }
    }

    /** The store may be told of more that a call has cost. */
    void mayBeTaken(String name, Take take, long permits) {
        BucketBounds bucket = all.bucket(name);
        bucket.pass(all.now());
        bucket.isVague = true;
        bucket.cost(take, permits, all.now() + 2 * SECOND);
    }

    /** What was kept while the store failed has been charged. */
    void kept(String name, Take first, long permits, long since) {
        BucketBounds bucket = all.bucket(name);
        bucket.pass(all.now());
        bucket.use(first.numbers);
        bucket.isVague = true;
        if (since > bucket.forgottenAt && since > bucket.grantedAt) {
            bucket.take(permits, first.numbers, all.now() - since);
        }
    }
}
