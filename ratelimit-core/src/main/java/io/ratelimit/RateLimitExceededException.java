package io.ratelimit;

import java.util.List;

/**
 * Thrown by a call that a limit rejects. Has no stack trace, because rejecting a call must be cheap: under attack it happens
 * thousands of times a second.
 */
public class RateLimitExceededException extends RateLimitException {

    private static final long serialVersionUID = 1L;

    /** An array, because a list need not be serializable. */
    private final String[] limitNames;

    /** The capacity, if the call requested more permits than that; otherwise 0. */
    private final long exceededCapacity;

    private final boolean blocked;

    private final transient RateLimitDecision decision;

    /**
     * Creates the rejection of a call by several limits.
     *
     * @param limitNames the limits that rejected the call, the tightest first
     * @param decision the decision of the tightest
     */
    public RateLimitExceededException(List<String> limitNames, RateLimitDecision decision) {
        this(decision, false, limitNames.toArray(String[]::new));
    }

    /**
     * Creates the rejection of a call by several limits.
     *
     * @param limitNames the limits that rejected the call, the tightest first
     * @param decision the decision of the tightest
     * @param blocked whether the tightest {@linkplain RateLimit#blockFor blocks} the key
     */
    public RateLimitExceededException(List<String> limitNames, RateLimitDecision decision, boolean blocked) {
        this(decision, blocked, limitNames.toArray(String[]::new));
    }

    /** Creates the rejection of a call by one limit. */
    public RateLimitExceededException(String limitName, RateLimitDecision decision) {
        this(decision, false, limitName);
    }

    private RateLimitExceededException(RateLimitDecision decision, boolean blocked, String... limitNames) {
        super(null, null, false, false);
        this.limitNames = limitNames;
        this.exceededCapacity = decision.retryAfter() == null ? decision.capacity() : 0;
        this.blocked = blocked;
        this.decision = decision;
    }

    /** Built on demand, because most handlers do not read it. */
    @Override
    public String getMessage() {
        return "Rate limit '" + String.join("', '", limitNames) + "' exceeded"
                + (blocked ? ": the key is blocked" : "")
                + (exceededCapacity == 0 ? "" : ": the call asks for more than the capacity of " + exceededCapacity);
    }

    /** Returns the name of the limit with the longest {@code retryAfter}. */
    public String getLimitName() {
        return limitNames[0];
    }

    /**
     * Returns whether this limit {@linkplain RateLimit#blockFor blocks} the key, so that every call is rejected until
     * {@code retryAfter} is over, however many permits there are. An operator's block of a key does not count.
     */
    public boolean isBlocked() {
        return blocked;
    }

    /** Returns the names of all limits that rejected the call, the tightest first. */
    public List<String> getLimitNames() {
        return List.of(limitNames);
    }

    /** Returns the decision of the limit {@link #getLimitName()}; null after deserialization. */
    public RateLimitDecision getDecision() {
        return decision;
    }
}
