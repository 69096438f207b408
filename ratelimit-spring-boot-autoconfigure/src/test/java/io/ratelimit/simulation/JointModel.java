package io.ratelimit.simulation;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * What the contract says of calls with several limits, by when each was sent and decided, and what it has taken in the end. What a
 * call takes meanwhile counts for the capacity of others, once, until it has been refunded; it is no violation. All times are
 * microseconds of the simulation.
 */
@SuppressWarnings({"LongDoubleConversion", "AnnotateFormatMethod"}) // Small numbers.
final class JointModel {

    /** After a fault, calls may fail for so long. */
    static final long RECOVERY = 5_000_000;

    /** A refund has arrived by then. */
    private static final long REFUND = 500_000;

    /** A round trip to a server. */
    private static final long ROUND_TRIP = 100_000;

    /** So old may be what an instance remembers of a rejection, and so long does it not hear of permits that others release. */
    private static final long SECOND = 1_050_000;

    private final LongSupplier clock;

    /** The longest time that a decision takes. */
    private final long attempt;

    /** Whether slots with limits that block keys are charged to find a violation, and refunded if they have the permits after all (ADR 13). */
    private final boolean clustered;

    private final Map<String, List<JointCharge>> buckets = new LinkedHashMap<>();

    private long events;

    private @Nullable AssertionError violation;

    JointModel(LongSupplier clock, boolean clustered) {
        this.clock = clock;
        this.clustered = clustered;
        this.attempt = clustered ? 1_500_000 : 500_000;
    }

    /** Numbers what happens. */
    long nextEvent() {
        return events++;
    }

    void add(String bucket, JointCharge charge) {
        buckets.computeIfAbsent(bucket, added -> new ArrayList<>()).add(charge);
    }

    void observe(Runnable work) {
        try {
            work.run();
        } catch (RuntimeException | AssertionError ex) {
            violation = violation == null ? new AssertionError("an observer fails: " + ex.getMessage(), ex) : violation;
            throw ex;
        }
    }

    void check(boolean holds, String message, Object... details) {
        if (!holds) {
            AssertionError found = new AssertionError(message.formatted(details));
            violation = violation == null ? found : violation;
            throw found;
        }
    }

    /** Throws what has been found. */
    void pass() {
        if (violation != null) {
            throw violation;
        }
    }

    /** A call is decided in time: not later than its wait and its decision last, and if it lacks only permits, not before. */
    void decided(JointCall call) {
        long waited = call.decided - call.sent;
        long longest = call.longestWait();
        check(waited <= longest + 3 * attempt, "decided after %d us: %s", waited, call);
        boolean waits = call.charges.stream()
                .filter(JointCharge::rejects)
                .allMatch(part -> part.waits() && part.permits() <= part.numbers.capacity());
        check(!call.isRejected() || !waits || waited >= longest, "did not wait, but %d us: %s", waited, call);
    }

    /** Checks each decision, when all calls have been decided. */
    void checkDecisions() {
        buckets.forEach((bucket, charges) -> charges.stream()
                .filter(part -> part.call.isDecided())
                .forEach(part -> {
                    if (isCertain(part)) {
                        double others = leastOf(part, charges);
                        check(
                                others + part.permits() <= part.numbers.capacity(),
                                "admitted more than the contract allows: %s takes %s while %.0f of %d are taken",
                                part.call,
                                bucket,
                                others,
                                part.numbers.capacity());
                    } else if (!part.taken && !part.allowed) {
                        double others = mostOf(part, charges, true);
                        check(
                                others + part.permits() > part.numbers.capacity() || mayBeBlocked(part, charges),
                                "rejected without a violation: %s by %s, at most %.0f of %d are taken%n%s",
                                part.call,
                                bucket,
                                others,
                                part.numbers.capacity(),
                                describe(charges));
                    }
                }));
    }

    /** Returns what others have certainly taken when the charge was made. */
    private double leastOf(JointCharge part, List<JointCharge> charges) {
        return part.limit.kind == JointLimit.Kind.FAST
                ? 0
                : charges.stream()
                        .filter(other -> other != part && isCertain(other))
                        .filter(other -> isBefore(other, part))
                        .filter(other -> other.ended == Long.MAX_VALUE || other.call.endedAs > part.call.decidedAs)
                        .mapToLong(JointCharge::permits)
                        .sum();
    }

    /** Returns whether a charge was certainly made before another. */
    private boolean isBefore(JointCharge one, JointCharge other) {
        long from = from(other);
        return one.call.decided < from || (from == other.call.sent && one.call.decidedAs < other.call.sentAs);
    }

    /** Returns whether the permits were certainly taken: a failure of a limit in dry run counts as admitted. */
    private static boolean isCertain(JointCharge part) {
        return part.taken && !(part.isDryRun() && part.call.isFaulty());
    }

    /** Returns when a charge may have been made at the earliest: the last attempt counts, and a limit in dry run is decided after it. */
    private long from(JointCharge part) {
        JointCall call = part.call;
        long from = call.isQueued() ? Math.max(call.sent, call.decided - attempt) : call.sent;
        return part.isDryRun() ? Math.max(from, call.decided - ROUND_TRIP) : from;
    }

    /**
     * Returns what others may have taken when the call was decided.
     *
     * @param undone also what others have taken until they were rejected or have failed
     */
    private double mostOf(JointCharge part, List<JointCharge> charges, boolean undone) {
        long to = latest(part);
        long waited = part.waits() ? SECOND + 2 * attempt + REFUND : attempt;
        long from = Math.max(part.call.sent, part.call.decided - waited);
        double refilled = part.isHeld() ? 0 : part.numbers.rate();
        double used = part.numbers.lease() * 4;
        double meanwhile = 0;
        long at = from;
        for (JointCharge other : charges.stream()
                .filter(each -> each != part)
                .sorted(Comparator.comparingLong(each -> each.call.decided))
                .toList()) {
            if (part.call.isDecided() && other.call.sentAs > part.call.decidedAs) {
                continue;
            }
            if (other.taken) {
                boolean wasAttempted = undone && !other.isDryRun();
                if ((from(other) > to && !wasAttempted) || gone(other) < from) {
                    continue;
                }
                if (other.call.decided > from) {
                    meanwhile += other.permits();
                } else {
                    used = Math.max(0, used - refilled * Math.max(0, other.call.decided - at)) + other.permits();
                    at = other.call.decided;
                }
            } else if ((undone || isViolationAnyhow(other)) && undoneAt(other, undone) >= from) {
                meanwhile += other.permits();
            }
        }
        return Math.max(0, used - refilled * Math.max(0, from - at)) + meanwhile;
    }

    /** Returns when the store has decided at the latest: an attempt of a call that was cancelled, or has failed, ends later. */
    private long latest(JointCharge part) {
        return part.call.isDecided() ? part.call.decided : part.call.decided + attempt;
    }

    /** Returns when the permits are certainly not counted any more. */
    private static long gone(JointCharge part) {
        return part.ended == Long.MAX_VALUE
                ? Long.MAX_VALUE
                : part.ended + (part.call.isFaulty() ? 60_000_000 : REFUND) + SECOND;
    }

    /** Returns when what was undone is certainly not counted any more. A lease meanwhile, or a failure, keeps it. */
    private long undoneAt(JointCharge part, boolean remembered) {
        boolean mayStay = part.call.isFaulty() || part.limit.lease > 0;
        if (part.call.isPending() || (remembered && mayStay)) {
            return Long.MAX_VALUE;
        }
        return part.call.decided + attempt + REFUND + (remembered && !part.isHeld() ? SECOND : 0);
    }

    /**
     * Returns whether what a call has taken for a moment may be the violation of another: that of a call that was cancelled during its
     * attempt, and on a cluster, of one that has lacked permits itself.
     */
    private boolean isViolationAnyhow(JointCharge part) {
        return (part.call.isCancelled() && part.call.isQueued()) || (clustered && part.mayBlock());
    }

    /** Returns whether a violation before has blocked the key. */
    private boolean mayBeBlocked(JointCharge part, List<JointCharge> charges) {
        return charges.stream()
                .filter(other -> other != part && other.mayBlock())
                .filter(other -> other.call.sent <= part.call.decided
                        && blockedUntil(other) >= Math.max(part.call.sent, part.call.decided - attempt))
                .anyMatch(other -> isViolation(other, charges));
    }

    private boolean isViolation(JointCharge part, List<JointCharge> charges) {
        return mostOf(part, charges, false) + part.permits() > part.numbers.capacity();
    }

    private long blockedUntil(JointCharge part) {
        return latest(part) + part.numbers.blockFor().get(0) + SECOND;
    }

    /** Checks what is left in a bucket when all calls have ended. */
    void checkBucket(String bucket, JointLimit limit, long remaining, boolean isBlocked) {
        List<JointCharge> charges = buckets.getOrDefault(bucket, List.of());
        check(
                !isBlocked
                        || charges.stream()
                                .anyMatch(part -> part.mayBlock()
                                        && blockedUntil(part) >= clock.getAsLong()
                                        && isViolation(part, charges)),
                "blocked without a violation: %s%n%s",
                bucket,
                describe(charges));
        long least = 0;
        long most = 0;
        for (JointCharge part : charges) {
            boolean back = part.ended < Long.MAX_VALUE && !(part.call.isFaulty() && !part.isHeld());
            if (part.taken && !back) {
                most += part.permits();
                least += isCertain(part) && part.ended == Long.MAX_VALUE ? part.permits() : 0;
            } else if (!part.isHeld() && (part.call.isFaulty() || mayBeLeasedBeside(part, charges))) {
                most += part.permits() * attempts(part.call);
            }
        }
        long used = limit.capacity - remaining;
        boolean counts = limit.kind != JointLimit.Kind.FAST;
        check(
                !counts || (least <= used && used <= most),
                "%d of %d are taken in the end of %s, and not %d to %d",
                used,
                limit.capacity,
                bucket,
                least,
                most);
    }

    private static String describe(List<JointCharge> charges) {
        return charges.stream().map(JointCharge::describe).collect(Collectors.joining("\n"));
    }

    /** Returns whether a lease may have been taken before a charge was undone, which cannot be refunded then (ADR 23). */
    private boolean mayBeLeasedBeside(JointCharge part, List<JointCharge> charges) {
        return part.limit.lease > 0
                && charges.stream()
                        .anyMatch(other ->
                                other != part && other.call.mayTakeLease() && other.call.sent <= latest(part) + REFUND);
    }

    /** Returns how often a call may have been decided. */
    private static long attempts(JointCall call) {
        return call.isQueued() ? 2 + (call.decided - call.sent) / 10_000 : 1;
    }
}
