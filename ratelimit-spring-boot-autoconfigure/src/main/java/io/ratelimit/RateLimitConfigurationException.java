package io.ratelimit;

import org.jspecify.annotations.Nullable;

/** A limit that cannot work as it is declared. Stops the start-up and says where, what and how to mend it. */
public class RateLimitConfigurationException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    private final @Nullable String place;

    private final String problem;

    private final String fix;

    /**
     * @param problem a sentence that names the attribute or property and what is wrong with it
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

    /** The same mistake, found in this place; a place that is known already stays. */
    public RateLimitConfigurationException at(String where) {
        return place != null ? this : new RateLimitConfigurationException(where, problem, fix, this);
    }

    /** The class and method, or the bean; {@code null} if the problem names a property only. */
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
