package io.ratelimit.memory;

/** A rule with a state of fixed size, however many calls there were. */
interface CounterRule extends Rule<CounterState> {

    @Override
    default CounterState unused(long now) {
        return new CounterState(0, now, 0);
    }

    @Override
    default long used(CounterState usage, long now) {
        return usage.used();
    }

    @Override
    default CounterState take(CounterState usage, long now, long permits) {
        return usage.plus(permits, capacity());
    }
}
