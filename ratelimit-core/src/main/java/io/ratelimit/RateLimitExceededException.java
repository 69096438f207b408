package io.ratelimit;

import java.util.List;
import org.jspecify.annotations.Nullable;

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

    private final transient @Nullable RateLimit limit;

    /**
     * Creates the rejection of a call by one or several limits.
     *
     * @param limitNames the limits that rejected the call, the tightest first
     * @param decision the decision of the tightest
     * @param limit the tightest, with the numbers that the call was decided by; {@code null}: not known
     */
    public RateLimitExceededException(List<String> limitNames, RateLimitDecision decision, @Nullable RateLimit limit) {
        super(null, null, false, false);
        this.limitNames = limitNames.toArray(String[]::new);
        this.exceededCapacity = decision.retryAfter() == null ? decision.capacity() : 0;
        this.blocked = limit != null && limit.isBlockedBy(decision);
        this.decision = decision;
        this.limit = limit;
    }

    /** Creates the rejection of a call by one limit. */
    public RateLimitExceededException(String limitName, RateLimitDecision decision) {
        this(List.of(limitName), decision, null);
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

    /**
     * Returns the limit {@link #getLimitName()} with the numbers that the call was decided by, which may be those of a plan;
     * {@code null} if they are not known, as after deserialization.
     */
    public @Nullable RateLimit getLimit() {
        return limit;
    }

    /** Returns the decision of the limit {@link #getLimitName()}; null after deserialization. */
    public RateLimitDecision getDecision() {
        return decision;
    }
}
