package io.ratelimit.internal.store.rejection;

import io.ratelimit.RateLimitDecision;
import io.ratelimit.spi.Charge;
import io.ratelimit.spi.StoreOutcome;
import io.ratelimit.spi.StoreRequest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A call that the store has rejected and has taken nothing for. Until one of its limits could decide otherwise, the same
 * call is rejected as well, and while a limit blocks the key, so is one that asks it for another number of permits: only time adds
 * permits, and others can only take them.
 *
 * @param decisions one for each charge
 * @param sent when the store was asked, before the request was sent: so no moment is too late
 * @param until when the store has to be asked again
 * @param addition the number of the last addition of permits when the store was asked
 */
record CachedRejection(List<Charge> charges, List<RateLimitDecision> decisions, long sent, long until, long addition) {

    /** The longest time for which the store is not asked again, so that the effect of other instances shows. */
    static final Duration LONGEST = Duration.ofSeconds(1);

    /** Returns what is to be cached; {@code null} if nothing was rejected, something was charged, or a later call may block a key. */
    static @Nullable CachedRejection of(StoreOutcome outcome, long sent, long addition) {
        if (outcome.isSingle() && outcome.decision().allowed()) {
            return null;
        }
        List<Charge> charges = outcome.charges();
        long nanos = Long.MAX_VALUE;
        for (int i = 0; i < charges.size(); i++) {
            RateLimitDecision decision = outcome.decisions().get(i);
            if (!decision.allowed()) {
                nanos = Math.min(nanos, nanosUntil(decision));
            } else if (outcome.isCharged(i)
                    || !charges.get(i).limit().blockFor().isEmpty()) {
                return null;
            }
        }
        return new CachedRejection(charges, outcome.decisions(), sent, sent + nanos, addition);
    }

    private static long nanosUntil(RateLimitDecision rejection) {
        Duration retry = rejection.retryAfter();
        return retry == null || retry.compareTo(LONGEST) > 0 ? LONGEST.toNanos() : retry.toNanos();
    }

    /** Returns whether the call would be rejected as this one was. */
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

    @SuppressWarnings("ReferenceEquality") // A limit with other numbers is another object.
    private boolean covers(int i, Charge charge) {
        Charge known = charges.get(i);
        return charge.limit() == known.limit()
                && Objects.equals(charge.key(), known.key())
                && (charge.permits() == known.permits() || (!decisions.get(i).allowed() && isBlocked(i)));
    }

    /** A limit that blocks keys has blocked this one, unless no such call can ever succeed. */
    private boolean isBlocked(int i) {
        return charges.get(i).limit().isBlockedBy(decisions.get(i));
    }

    /** Returns what the store has decided, less the time since then. */
    StoreOutcome outcome(StoreRequest request, long now) {
        if (request.isSingle()) {
            return StoreOutcome.of(request, decision(0, request.first(), now));
        }
        List<Charge> call = request.charges();
        List<RateLimitDecision> present = new ArrayList<>(call.size());
        for (int i = 0; i < call.size(); i++) {
            present.add(decision(i, call.get(i), now));
        }
        return StoreOutcome.of(request, present);
    }

    /** Returns the store's decision about one charge, less the time since then. */
    RateLimitDecision decision(int i, Charge charge, long now) {
        RateLimitDecision known = decisions.get(i);
        long elapsed = now - sent;
        Duration reset = less(known.resetAfter(), elapsed);
        return new RateLimitDecision(
                known.allowed(),
                known.capacity(),
                known.remaining(),
                known.delay(),
                known.allowed() ? Duration.ZERO : retryAfter(known, charge, elapsed, reset),
                reset);
    }

    /** @param reset until the bucket is full again, which in a window is the same time */
    private static @Nullable Duration retryAfter(RateLimitDecision known, Charge charge, long elapsed, Duration reset) {
        Duration retry = known.retryAfter();
        if (retry == null || charge.permits() > charge.limit().capacity()) {
            return null;
        }
        return retry.equals(known.resetAfter()) ? reset : less(retry, elapsed);
    }

    private static Duration less(Duration time, long elapsed) {
        long micros = (time.toNanos() - elapsed + 999) / 1_000;
        return micros <= 0 ? Duration.ZERO : Duration.ofNanos(micros * 1_000);
    }
}
