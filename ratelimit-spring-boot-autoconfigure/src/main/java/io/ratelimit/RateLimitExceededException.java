package io.ratelimit;

import java.util.List;

/**
 * A call was rejected. Has no stack trace: it is an answer, not a defect, and must cost an attacker more than it costs
 * us. The message never holds the key.
 */
public class RateLimitExceededException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    /** An array, because a list need not be serializable. */
    private final String[] limitNames;

    private final transient RateLimitDecision decision;

    /**
     * @param limitNames the limits that rejected the call, the tightest first
     * @param decision what the tightest said
     */
    public RateLimitExceededException(List<String> limitNames, RateLimitDecision decision) {
        super(message(limitNames, decision), null, false, false);
        this.limitNames = limitNames.toArray(String[]::new);
        this.decision = decision;
    }

    private static String message(List<String> limitNames, RateLimitDecision decision) {
        return "Rate limit '" + String.join("', '", limitNames) + "' exceeded"
                + (decision.retryAfter() == null
                        ? ": the call asks for more than the capacity of " + decision.capacity()
                        : "");
    }

    /** The limit that keeps the caller waiting longest. */
    public String getLimitName() {
        return limitNames[0];
    }

    /** Every limit that rejected the call. */
    public List<String> getLimitNames() {
        return List.of(limitNames);
    }

    /** What the limit of {@link #getLimitName()} said. */
    public RateLimitDecision getDecision() {
        return decision;
    }
}
