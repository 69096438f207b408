package io.ratelimit.actuate;

/** Thrown by the endpoint if there is no limit of a name. */
final class UnknownLimitException extends IllegalArgumentException {

    private static final long serialVersionUID = 1L;

    UnknownLimitException(IllegalArgumentException cause) {
        super(cause.getMessage(), cause);
    }
}
