package io.ratelimit.internal.limiter;

/** Thrown if there is no limit of a name, or no plan of it. */
public final class UnknownLimitException extends IllegalArgumentException {

    private static final long serialVersionUID = 1L;

    public UnknownLimitException(String message) {
        super(message);
    }
}
