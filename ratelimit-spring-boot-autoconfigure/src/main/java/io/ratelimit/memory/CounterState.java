package io.ratelimit.memory;

/**
 * A number of used permits.
 *
 * @param used permits that have been taken and are not back
 * @param rest what else the rule remembers
 */
record CounterState(long used, long since, long rest) implements Usage {

    @Override
    public CounterState receipt() {
        return this;
    }

    CounterState plus(long permits, long most) {
        return new CounterState(Math.min(used + permits, most), since, rest);
    }
}
