package io.ratelimit.memory;

/**
 * A number of used permits.
 *
 * @param used permits that have been taken and are not back
 * @param rest what else the rule remembers
 */
record Count(long used, long since, long rest) implements Usage {

    static Count none(long now) {
        return new Count(0, now, 0);
    }

    @Override
    public Count receipt() {
        return this;
    }

    Count plus(long permits, long most) {
        return new Count(Math.min(used + permits, most), since, rest);
    }
}
