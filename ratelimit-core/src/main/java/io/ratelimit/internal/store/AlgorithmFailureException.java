package io.ratelimit.internal.store;

import io.ratelimit.Internal;
import io.ratelimit.RateLimitStoreException;
import org.jspecify.annotations.Nullable;

/** Thrown if a function of an application's algorithm fails, or returns what it must not. */
@Internal
public final class AlgorithmFailureException extends RateLimitStoreException {

    private static final long serialVersionUID = 1L;

    private final String algorithm;

    /**
     * @param place where the function runs, at the beginning of the message: {@code "Redis: "}, or empty
     * @param algorithm the name of the algorithm
     * @param what is wrong
     */
    public AlgorithmFailureException(String place, String algorithm, String what, @Nullable Throwable cause) {
        super(Reason.ALGORITHM, place + "Algorithm '" + algorithm + "': " + what, cause);
        this.algorithm = algorithm;
    }

    public String algorithm() {
        return algorithm;
    }
}
