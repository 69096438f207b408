package io.ratelimit.internal.memory;

import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitAlgorithm;
import io.ratelimit.RateLimitAlgorithm.State;
import io.ratelimit.internal.limit.ReducedRate;
import io.ratelimit.internal.store.AlgorithmFailureException;
import java.util.Objects;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * An algorithm of the application. Checks what its functions return, as {@code own_algorithms.lua} does: a mistake is a failure of
 * the store for the calls of the limit. What the functions do not say follows from them so that no more is admitted than by a
 * bucket of the rule alone.
 */
record OwnRule(RateLimitAlgorithm algorithm, RateLimitAlgorithm.Rule rule) implements Rule<OwnState> {

    /** Numbers that are exact in Lua. */
    private static final long EXACT = 1L << 53;

    static OwnRule of(RateLimit limit) {
        ReducedRate rate = limit.numbers().reducedRate();
        return new OwnRule(
                Objects.requireNonNull(limit.ownAlgorithm()),
                new RateLimitAlgorithm.Rule(limit.capacity(), rate.permits(), rate.micros()));
    }

    @Override
    public long capacity() {
        return rule.capacity();
    }

    @Override
    public OwnState unused(long now) {
        return new OwnState(new State(0, now, 0), 0);
    }

    @Override
    public OwnState recover(OwnState usage, long now) {
        State state = usage.state();
        if (state.used() == 0) {
            return unused(now);
        }
        State left = state("recover", now, () -> algorithm.recover(rule, state, now));
        if (left.used() > state.used()) {
            throw mistake("recover", "must not return more used than before (was " + left + ")", null);
        }
        return next(left, usage.refunded(), now);
    }

    private OwnState next(State state, long refunded, long now) {
        return state.used() == 0 ? unused(now) : new OwnState(state, refunded);
    }

    @Override
    public long used(OwnState usage, long now) {
        return usage.state().used() == 0 ? 0 : number("used", 0, () -> algorithm.used(rule, usage.state(), now));
    }

    @Override
    public long timeUntil(long most, OwnState usage, long now) {
        return number("timeUntil", 1, () -> algorithm.timeUntil(rule, usage.state(), now, most));
    }

    @Override
    public long resetAfter(OwnState usage, long now) {
        return usage.state().used() == 0
                ? 0
                : number("resetAfter", 1, () -> algorithm.resetAfter(rule, usage.state(), now));
    }

    @Override
    public OwnState take(OwnState usage, long now, long permits) {
        if (permits == 0) {
            return usage;
        }
        State taken = state("take", now, () -> algorithm.take(rule, usage.state(), now, permits));
        if (taken.used() == 0) {
            throw mistake("take", "must return used of at least 1 (was " + taken + ")", null);
        }
        return new OwnState(taken, usage.refunded());
    }

    /**
     * With a call for more than is left, all of the capacity is in use from now on, as in {@link CounterRule#observe}, and all
     * charges before count as refunded.
     */
    @Override
    public OwnState observe(OwnState usage, long now, long permits, RuleState<?> admitting) {
        long left = capacity() - used(usage, now);
        if (permits <= left) {
            return take(usage, now, permits);
        }
        State counted = left >= 0 ? take(unused(now), now, capacity()).state() : usage.state();
        return new OwnState(counted, usage.refunded() + usage.state().used());
    }

    @Override
    public OwnState force(OwnState usage, long now, long permits, @Nullable RuleState<?> first) {
        return take(
                usage,
                now,
                Math.max(0, Math.min(permits, mostUsed() - usage.state().used())));
    }

    private long mostUsed() {
        return ReducedRate.LONGEST / rule.periodMicros();
    }

    /**
     * Refunds no more than is certainly not back: what would not be back of the permits in use after the charge if there had been
     * no calls since. Refunds since then may have been of those permits.
     */
    @Override
    public OwnState refund(OwnState usage, long now, long permits, CounterState receipt) {
        OwnState charged = OwnState.of(receipt);
        long before = Math.max(0, usage.refunded() - charged.refunded());
        return grant(usage, now, Math.min(permits, recover(charged, now).state().used() - before));
    }

    @Override
    public OwnState grant(OwnState usage, long now, long permits) {
        long refunded = Math.min(permits, usage.state().used());
        if (refunded <= 0) {
            return usage;
        }
        return next(
                state("refund", now, () -> algorithm.refund(rule, usage.state(), now, refunded)),
                usage.refunded() + refunded,
                now);
    }

    /** Counts all of it as taken now, because nothing is known of when it was. */
    @Override
    public OwnState adopt(RuleState<?> other, long now) {
        return take(unused(now), now, other.used(now, capacity()));
    }

    private long number(String function, long least, LongSupplier result) {
        long number;
        try {
            number = result.getAsLong();
        } catch (RuntimeException | StackOverflowError | LinkageError ex) {
            throw mistake(function, ex.toString(), ex);
        }
        if (number < least || number >= EXACT) {
            throw mistake(function, "must return a number from " + least + ", below 2^53 (was " + number + ")", null);
        }
        return number;
    }

    private State state(String function, long now, Supplier<State> result) {
        State state;
        try {
            state = result.get();
        } catch (RuntimeException | StackOverflowError | LinkageError ex) {
            throw mistake(function, ex.toString(), ex);
        }
        if (state == null) {
            throw mistake(function, "must not return null", null);
        }
        if (Math.min(state.used(), Math.min(state.since(), state.rest())) < 0 || state.rest() >= EXACT) {
            throw mistake(function, "must return numbers from 0, below 2^53 (was " + state + ")", null);
        }
        if (state.used() > mostUsed()) {
            throw mistake(function, "must return used of at most " + mostUsed() + " (was " + state + ")", null);
        }
        if (state.since() > now) {
            throw mistake(function, "must return since not later than now " + now + " (was " + state + ")", null);
        }
        return state;
    }

    private AlgorithmFailureException mistake(String function, String what, @Nullable Throwable cause) {
        return new AlgorithmFailureException("", algorithm.name(), function + ": " + what, cause);
    }
}
