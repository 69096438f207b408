package io.ratelimit.internal.limiter;

import io.ratelimit.JointDecision;
import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitDecision;
import io.ratelimit.RateLimitExceededException;
import io.ratelimit.spi.Charge;
import io.ratelimit.spi.StoreOutcome;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.stream.IntStream;

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

    /** Returns the longest delay. */
    Duration delay() {
        Duration longest = Duration.ZERO;
        for (int i = 0; i < charges.size(); i++) {
            Duration delay = decisions.get(i).delay();
            if (isEnforced(i) && delay.compareTo(longest) > 0) {
                longest = delay;
            }
        }
        return longest;
    }

    /** Returns the limit with this delay. */
    RateLimit delayedBy(Duration delay) {
        return charges.get(indices()
                        .filter(i -> isEnforced(i) && decisions.get(i).delay().equals(delay))
                        .findFirst()
                        .orElseThrow())
                .limit();
    }

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
        return indices()
                .filter(this::rejects)
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
        return enforced.isEmpty()
                ? Collections.min(decisions, FEWEST_LEFT_FIRST).asAllowed()
                : Collections.min(enforced, FEWEST_LEFT_FIRST).withDelay(delay());
    }

    private IntStream indices() {
        return IntStream.range(0, charges.size());
    }

    private boolean rejects(int i) {
        return isEnforced(i) && !decisions.get(i).allowed();
    }

    private boolean isEnforced(int i) {
        return !charges.get(i).limit().dryRun();
    }
}
