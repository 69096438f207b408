package com.acme.limits;

import io.ratelimit.RateLimitAlgorithm;
import io.ratelimit.RateLimitAlgorithm.Rule;
import io.ratelimit.test.contract.AdmittedCall;
import io.ratelimit.test.contract.RateLimitAlgorithmContract;
import io.ratelimit.testing.redis.SharedRedis;
import java.time.Duration;
import java.util.List;

/** Compares the algorithm with the other form of GCRA in I.371: virtual scheduling, with the theoretical arrival time of the next call. */
class JitterTolerantTests extends RateLimitAlgorithmContract {

    private static final long TOLERANCE_MICROS = 20_000;

    @Override
    protected RateLimitAlgorithm algorithm() {
        return new JitterTolerant(Duration.ofMillis(20));
    }

    @Override
    protected String redisUrl() {
        return "redis://" + SharedRedis.get().host() + ":" + SharedRedis.get().port();
    }

    /** Permits take their turns one by one: n permits conform if the last of them does. */
    @Override
    protected long available(Rule rule, List<AdmittedCall> admitted, long now) {
        long increment = rule.periodMicros();
        long tolerance = Math.min(TOLERANCE_MICROS * rule.permits(), increment - 1);
        long limit = (rule.capacity() - 1) * increment + tolerance;
        long next = Math.max(theoreticalArrival(rule, admitted), now * rule.permits());
        long conforming = 0;
        while (conforming < rule.capacity() && next - now * rule.permits() <= limit) {
            conforming++;
            next += increment;
        }
        return conforming;
    }

    /** A call changes nothing any more once its theoretical arrival time is over, a little after all permits are available. */
    @Override
    protected long resetAfter(Rule rule, List<AdmittedCall> admitted, long now) {
        long arrival = theoreticalArrival(rule, admitted);
        return Math.max(0, (arrival + rule.permits() - 1) / rule.permits() - now);
    }

    /** In parts of a microsecond: one part is a microsecond divided by the permits of the rate. */
    private static long theoreticalArrival(Rule rule, List<AdmittedCall> admitted) {
        long arrival = 0;
        for (AdmittedCall call : admitted) {
            arrival = Math.max(arrival, call.micros() * rule.permits()) + call.permits() * rule.periodMicros();
        }
        return arrival;
    }
}
