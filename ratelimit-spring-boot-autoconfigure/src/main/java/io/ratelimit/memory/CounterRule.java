package io.ratelimit.memory;

/** A rule that remembers a number, however many calls there were. */
interface CounterRule extends Rule<CounterState> {}
