package io.ratelimit;

import org.jspecify.annotations.Nullable;

/**
 * Thrown at startup if an annotation, a property or a {@link RateLimit} is invalid. Says where, what is wrong and how to fix
 * it.
 */
public class RateLimitConfigurationException extends RateLimitException {

    private static final long serialVersionUID = 1L;

    private final @Nullable String place;

    private final String problem;

    private final String fix;

    /**
     * Creates an exception whose place is not known yet.
     *
     * @param problem a sentence: attribute or property, rule, value
     * @param fix a sentence that says what to write instead
     */
    public RateLimitConfigurationException(String problem, String fix) {
        this(null, problem, fix, null);
    }

    public RateLimitConfigurationException(String problem, String fix, @Nullable Throwable cause) {
        this(null, problem, fix, cause);
    }

    private RateLimitConfigurationException(
            @Nullable String place, String problem, String fix, @Nullable Throwable cause) {
        super((place == null ? "" : place + ": ") + problem + " " + fix, cause);
        this.place = place;
        this.problem = problem;
        this.fix = fix;
    }

    /** Returns the same problem with this place, or this exception if it has one already. */
    public RateLimitConfigurationException at(String where) {
        return place != null ? this : new RateLimitConfigurationException(where, problem, fix, this);
    }

    /** Returns the class and method, or the bean; {@code null} if the problem names only a property. */
    public @Nullable String getPlace() {
        return place;
    }

    public String getProblem() {
        return problem;
    }

    public String getFix() {
        return fix;
    }
}
