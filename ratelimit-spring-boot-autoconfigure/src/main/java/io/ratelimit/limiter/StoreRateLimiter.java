package io.ratelimit.limiter;

import io.ratelimit.Charge;
import io.ratelimit.JointDecision;
import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitDecision;
import io.ratelimit.RateLimiter;
import io.ratelimit.concurrent.Futures;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Applies one limit. Looks the limit up at the first call, because a bean may get its limiter before the limit is declared. */
final class StoreRateLimiter implements RateLimiter {

    private final String name;

    private final Function<String, RateLimit> lookup;

    private final RateLimitGate gate;

    private volatile @Nullable RateLimit limit;

    StoreRateLimiter(String name, Function<String, RateLimit> lookup, RateLimitGate gate) {
        this.name = name;
        this.lookup = lookup;
        this.gate = gate;
    }

    /** Returns the name as it was requested. */
    String name() {
        return name;
    }

    @Override
    public RateLimitDecision tryAcquire(String key, long permits) {
        Charge charge = charge(key, permits);
        return charge.limit().enabled() ? gate.decide(charge) : unlimited(charge);
    }

    @Override
    public CompletionStage<RateLimitDecision> tryAcquireAsync(String key, long permits) {
        return Futures.start(() -> {
            Charge charge = charge(key, permits);
            return charge.limit().enabled()
                    ? gate.decideAsync(List.of(charge)).thenApply(JointDecision::tightest)
                    : CompletableFuture.completedFuture(unlimited(charge));
        });
    }

    @Override
    public void acquire(String key) {
        Charge charge = charge(key, 1);
        if (charge.limit().enabled()) {
            gate.enter(charge);
        }
    }

    @Override
    public RateLimitDecision peek(String key) {
        Charge charge = charge(key, 1);
        return charge.limit().enabled() ? gate.peek(charge) : unlimited(charge);
    }

    @Override
    public void reset(String key) {
        Charge bucket = charge(key, 0);
        gate.reset(bucket.limit(), bucket.key());
    }

    private static RateLimitDecision unlimited(Charge charge) {
        return RateLimitDecision.unlimited(charge.limit().capacity());
    }

    private Charge charge(@Nullable String key, long permits) {
        return Charge.keyed(limit(), key, permits);
    }

    /** @throws IllegalArgumentException if there is no such limit */
    RateLimit limit() {
        RateLimit known = limit;
        if (known == null) {
            known = lookup.apply(name);
            limit = known;
        }
        return known;
    }
}
