package io.ratelimit.store.rejection;

import io.ratelimit.AlgorithmTraits;
import io.ratelimit.Charge;
import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitDecision;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A call that the store has rejected and has taken nothing for. Until one of its limits could decide otherwise, the same
 * call, or one that asks a rejecting limit for more, is rejected as well: time alone gives permits back, and others can
 * only take them.
 *
 * @param decisions one for each charge
 * @param asked when the store was, before the request left: so no moment is too late
 * @param until when the store is to be asked again
 * @param stamp of the buckets, when the store was asked
 */
record CachedRejection(List<Charge> charges, List<RateLimitDecision> decisions, long asked, long until, long stamp) {

    /** The longest that the store is not asked again, so that what other instances do to a bucket shows. */
    static final Duration LONGEST = Duration.ofSeconds(1);

    /** What is to be remembered; {@code null} if nothing, because something was taken. */
    static @Nullable CachedRejection of(
            List<Charge> charges, List<RateLimitDecision> decisions, long asked, long stamp) {
        long nanos = Long.MAX_VALUE;
        boolean binding = false;
        for (int i = 0; i < charges.size(); i++) {
            if (!decisions.get(i).allowed()) {
                nanos = Math.min(nanos, nanosUntil(decisions.get(i)));
                binding |= !charges.get(i).limit().dryRun();
            }
        }
        if (nanos == Long.MAX_VALUE || tookSomething(charges, decisions, binding)) {
            return null;
        }
        return new CachedRejection(charges, decisions, asked, asked + nanos, stamp);
    }

    private static long nanosUntil(RateLimitDecision rejection) {
        Duration retry = rejection.retryAfter();
        return retry == null || retry.compareTo(LONGEST) > 0 ? LONGEST.toNanos() : retry.toNanos();
    }

    private static boolean tookSomething(List<Charge> charges, List<RateLimitDecision> decisions, boolean rejected) {
        for (int i = 0; i < charges.size(); i++) {
            Charge charge = charges.get(i);
            boolean charged = decisions.get(i).allowed() && charge.permits() > 0;
            if (charged && (charge.limit().dryRun() || !rejected)) {
                return true;
            }
        }
        return false;
    }

    /** Whether the call is one that would be rejected as this one was. */
    boolean covers(List<Charge> call) {
        if (call.size() != charges.size()) {
            return false;
        }
        for (int i = 0; i < charges.size(); i++) {
            if (!covers(i, call.get(i))) {
                return false;
            }
        }
        return true;
    }

    boolean covers(Charge call) {
        return charges.size() == 1 && covers(0, call);
    }

    @SuppressWarnings("ReferenceEquality") // A limit whose numbers have changed is another.
    private boolean covers(int i, Charge charge) {
        Charge known = charges.get(i);
        return charge.limit() == known.limit()
                && Objects.equals(charge.key(), known.key())
                && (charge.permits() == known.permits()
                        || (!decisions.get(i).allowed() && coversMore(charge, known.permits())));
    }

    /** Of what comes back bit by bit as it was taken, it is not known here when more of it will be. */
    private static boolean coversMore(Charge charge, long rejected) {
        RateLimit limit = charge.limit();
        return charge.permits() > rejected
                && (charge.permits() > limit.capacity()
                        || AlgorithmTraits.of(limit).knowsWaitForMore());
    }

    List<RateLimitDecision> decisions(List<Charge> call, long now) {
        List<RateLimitDecision> said = new ArrayList<>(call.size());
        for (int i = 0; i < call.size(); i++) {
            said.add(decision(i, call.get(i), now));
        }
        return said;
    }

    RateLimitDecision decision(Charge call, long now) {
        return decision(0, call, now);
    }

    /** What the store said, less the time since. */
    private RateLimitDecision decision(int i, Charge charge, long now) {
        RateLimitDecision known = decisions.get(i);
        long elapsed = now - asked;
        return new RateLimitDecision(
                known.allowed(),
                known.capacity(),
                known.remaining(),
                known.delay(),
                known.allowed()
                        ? Duration.ZERO
                        : retryAfter(
                                known, charge, charge.permits() - charges.get(i).permits(), elapsed),
                less(known.resetAfter(), elapsed));
    }

    /** @param more permits than the rejected call wanted, which takes so much longer, but for a fixed window's */
    private static @Nullable Duration retryAfter(RateLimitDecision known, Charge charge, long more, long elapsed) {
        RateLimit limit = charge.limit();
        Duration retry = known.retryAfter();
        if (retry == null || charge.permits() > limit.capacity()) {
            return null;
        }
        Duration left = less(retry, elapsed);
        long missing = charge.permits() - more - known.remaining();
        return more == 0
                ? left
                : left.plus(AlgorithmTraits.of(limit).waitForMore(limit, missing, more), ChronoUnit.MICROS);
    }

    private static Duration less(Duration time, long elapsed) {
        long micros = (time.toNanos() - elapsed + 999) / 1_000;
        return micros <= 0 ? Duration.ZERO : Duration.ofNanos(micros * 1_000);
    }
}
