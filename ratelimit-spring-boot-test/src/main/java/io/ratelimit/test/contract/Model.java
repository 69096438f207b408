package io.ratelimit.test.contract;

import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitAlgorithm.Rule;
import io.ratelimit.RateLimitDecision;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.function.LongPredicate;

/** Decides calls of one key by the author's definition alone: decisions follow from how many permits are available, and when. */
final class Model {

    /** 142 years in microseconds, where the arithmetic of limits ends. */
    private static final long LONGEST = 1L << 52;

    private final RateLimitAlgorithmContract definition;

    private final List<AdmittedCall> admitted = new ArrayList<>();

    Model(RateLimitAlgorithmContract definition) {
        this.definition = definition;
    }

    static Rule rule(RateLimit limit) {
        return new Rule(
                limit.capacity(),
                limit.numbers().reducedRate().permits(),
                limit.numbers().reducedRate().micros());
    }

    /** Decides the call, and remembers it if it is admitted. */
    RateLimitDecision decide(RateLimit limit, long permits, long now) {
        Rule rule = rule(limit);
        boolean allowed = permits <= available(rule, now);
        long retryAfter = allowed
                ? 0
                : permits > rule.capacity() ? -1 : firstTime(time -> available(rule, now + time) >= permits);
        if (allowed) {
            add(permits, now);
        }
        return RateLimitDecision.ofMicros(
                rule.capacity(),
                available(rule, now),
                0,
                retryAfter,
                definition.resetAfter(rule, Collections.unmodifiableList(admitted), now));
    }

    /** Remembers a call that was admitted. */
    void add(long permits, long now) {
        if (permits > 0) {
            admitted.add(new AdmittedCall(now, permits));
        }
    }

    long available(Rule rule, long now) {
        long available = definition.available(rule, Collections.unmodifiableList(admitted), now);
        if (available < 0 || available > rule.capacity()) {
            throw new AssertionError("By the model, " + available + " of " + rule.capacity()
                    + " permits are available at " + now + " after " + admitted);
        }
        return available;
    }

    /** Returns the microseconds until the condition holds. Permits only come back, so the time is found by bisection. */
    static long firstTime(LongPredicate holds) {
        if (holds.test(0)) {
            return 0;
        }
        long before = 0;
        long after = 1;
        while (!holds.test(after)) {
            before = after;
            after *= 2;
            if (after > LONGEST) {
                throw new AssertionError("By the model, permits are never available again");
            }
        }
        while (after - before > 1) {
            long middle = (before + after) / 2;
            if (holds.test(middle)) {
                after = middle;
            } else {
                before = middle;
            }
        }
        return after;
    }
}
