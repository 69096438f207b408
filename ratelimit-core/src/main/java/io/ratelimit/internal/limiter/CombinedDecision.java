package io.ratelimit.internal.limiter;

import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitDecision;
import io.ratelimit.RateLimitExceededException;
import io.ratelimit.RateLimiterRegistry.JointDecision;
import io.ratelimit.spi.Charge;
import io.ratelimit.spi.StoreOutcome;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Combines the decisions about the charges of one call. A limit in {@linkplain RateLimit#dryRun() dry run} is not enforced:
 * it neither rejects nor delays the call.
 *
 * @param decisions those of the store, one for each charge
 */
public record CombinedDecision(List<Charge> charges, List<RateLimitDecision> decisions) {

    private static final Comparator<RateLimitDecision> FEWEST_LEFT_FIRST = Comparator.comparingLong(
                    RateLimitDecision::remaining)
            .thenComparing(RateLimitDecision::resetAfter, Comparator.reverseOrder());

    /** Orders decisions that can never succeed, with a null {@code retryAfter}, first. */
    private static final Comparator<RateLimitDecision> LONGEST_WAIT_FIRST = Comparator.comparing(
            RateLimitDecision::retryAfter, Comparator.nullsFirst(Comparator.<Duration>reverseOrder()));

    public boolean isRejected() {
        return StoreOutcome.isRejected(charges, i -> decisions.get(i).allowed());
    }

    /** Returns the longest delay; {@code null}: no limit delays the call. */
    @Nullable
    Delay delay() {
        Delay longest = null;
        for (int i = 0; i < charges.size(); i++) {
            Duration delay = decisions.get(i).delay();
            if (isEnforced(i) && delay.compareTo(longest == null ? Duration.ZERO : longest.time()) > 0) {
                longest = new Delay(charges.get(i).limit(), delay);
            }
        }
        return longest;
    }

    /** The time that a call waits, and the limit that it waits for. */
    record Delay(RateLimit limit, Duration time) {}

    RateLimitExceededException rejection() {
        List<Integer> tightestFirst = rejectingTightestFirst();
        int tightest = tightestFirst.get(0);
        return new RateLimitExceededException(
                names(tightestFirst),
                decisions.get(tightest),
                charges.get(tightest).limit());
    }

    JointDecision joint() {
        if (!isRejected()) {
            return new JointDecision(tightestAllowance(), List.of());
        }
        List<Integer> tightestFirst = rejectingTightestFirst();
        return new JointDecision(decisions.get(tightestFirst.get(0)), names(tightestFirst));
    }

    private List<Integer> rejectingTightestFirst() {
        return IntStream.range(0, charges.size())
                .filter(i -> isEnforced(i) && !decisions.get(i).allowed())
                .boxed()
                .sorted(Comparator.comparing(decisions::get, LONGEST_WAIT_FIRST))
                .toList();
    }

    private List<String> names(List<Integer> indices) {
        return indices.stream().map(i -> charges.get(i).limit().name()).toList();
    }

    private RateLimitDecision tightestAllowance() {
        List<RateLimitDecision> enforced = new ArrayList<>(charges.size());
        for (int i = 0; i < charges.size(); i++) {
            if (isEnforced(i)) {
                enforced.add(decisions.get(i));
            }
        }
        Delay delay = delay();
        return enforced.isEmpty()
                ? Collections.min(decisions, FEWEST_LEFT_FIRST).asAllowed()
                : Collections.min(enforced, FEWEST_LEFT_FIRST).withDelay(delay == null ? Duration.ZERO : delay.time());
    }

    private boolean isEnforced(int i) {
        return !charges.get(i).limit().dryRun();
    }
}
