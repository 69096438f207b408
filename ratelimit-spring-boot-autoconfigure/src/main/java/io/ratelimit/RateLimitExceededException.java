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

    /** What the call asked for more than; 0: it did not. */
    private final long exceededCapacity;

    private final transient RateLimitDecision decision;

    /**
     * @param limitNames the limits that rejected the call, the tightest first
     * @param decision what the tightest said
     */
    public RateLimitExceededException(List<String> limitNames, RateLimitDecision decision) {
        this(decision, limitNames.toArray(String[]::new));
    }

    /** Of one limit. */
    public RateLimitExceededException(String limitName, RateLimitDecision decision) {
        this(decision, limitName);
    }

    private RateLimitExceededException(RateLimitDecision decision, String... limitNames) {
        super(null, null, false, false);
        this.limitNames = limitNames;
        this.exceededCapacity = decision.retryAfter() == null ? decision.capacity() : 0;
        this.decision = decision;
    }

    /** Made when somebody asks, which few do. */
    @Override
    public String getMessage() {
        return "Rate limit '" + String.join("', '", limitNames) + "' exceeded"
                + (exceededCapacity == 0 ? "" : ": the call asks for more than the capacity of " + exceededCapacity);
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
