package io.ratelimit.internal.limiter;

import io.ratelimit.AllCallers;
import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitDecision;
import io.ratelimit.RateLimiter;
import io.ratelimit.RateLimiterRegistry.JointDecision;
import io.ratelimit.internal.concurrent.Futures;
import io.ratelimit.spi.Charge;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Applies one limit. Looks the limit up at the first call, because a bean may get its limiter before the limit is declared. */
final class StoreRateLimiter implements RateLimiter {

    private final String name;

    private final Function<String, EffectiveLimit> lookup;

    private final RateLimitGate gate;

    /** {@code null}: the limit's own numbers. */
    private final @Nullable String plan;

    /** Whether all keys are ignored, for the one bucket of all callers. */
    private final boolean keyless;

    private @Nullable AllCallers allCallers;

    private volatile @Nullable EffectiveLimit limit;

    StoreRateLimiter(String name, Function<String, EffectiveLimit> lookup, RateLimitGate gate) {
        this(name, lookup, gate, null, false);
    }

    private StoreRateLimiter(
            String name,
            Function<String, EffectiveLimit> lookup,
            RateLimitGate gate,
            @Nullable String plan,
            boolean keyless) {
        this.name = name;
        this.lookup = lookup;
        this.gate = gate;
        this.plan = plan;
        this.keyless = keyless;
    }

    /** Returns the name as it was requested. */
    String name() {
        return name;
    }

    @Override
    public RateLimiter withPlan(@Nullable String name) {
        return new StoreRateLimiter(this.name, lookup, gate, name == null || name.isEmpty() ? null : name, keyless);
    }

    @Override
    public AllCallers allCallers() {
        AllCallers known = allCallers;
        if (known == null) {
            known = new AllCallers(new StoreRateLimiter(name, lookup, gate, plan, true));
            allCallers = known;
        }
        return known;
    }

    @Override
    public RateLimitDecision tryAcquire(String key, long permits) {
        return gate.decide(rated(key, permits));
    }

    @Override
    public CompletionStage<RateLimitDecision> tryAcquireAsync(String key, long permits) {
        return Futures.start(
                () -> gate.decideAsync(List.of(rated(key, permits))).thenApply(JointDecision::tightest));
    }

    @Override
    public void acquire(String key, long permits) {
        gate.enter(rated(key, permits));
    }

    @Override
    public CompletionStage<Void> acquireAsync(String key, long permits) {
        return Futures.start(() -> gate.enterAsync(List.of(rated(key, permits))));
    }

    @Override
    public Entry enter(String key, long permits) {
        return gate.open(List.of(chargeOf(key, permits)), List.of());
    }

    @Override
    public CompletionStage<Entry> enterAsync(String key, long permits) {
        return Futures.start(() -> gate.openAsync(List.of(chargeOf(key, permits)), List.of()));
    }

    @Override
    public void charge(String key, long permits) {
        gate.charge(chargeable(key, permits));
    }

    @Override
    public CompletionStage<Void> chargeAsync(String key, long permits) {
        return Futures.start(() -> gate.chargeAsync(chargeable(key, permits)));
    }

    @Override
    public RateLimitDecision peek(String key) {
        return gate.peek(chargeOf(key, 1));
    }

    @Override
    public CompletionStage<RateLimitDecision> peekAsync(String key) {
        return Futures.start(() -> gate.peekAsync(chargeOf(key, 1)));
    }

    @Override
    public void reset(String key) {
        gate.reset(chargeOf(key, 0));
    }

    @Override
    public CompletionStage<Void> resetAsync(String key) {
        return Futures.start(() -> gate.resetAsync(chargeOf(key, 0)));
    }

    private Charge chargeOf(@Nullable String key, long permits) {
        return keyless ? new Charge(limit(), null, permits) : Charge.keyed(limit(), key, permits);
    }

    private Charge rated(@Nullable String key, long permits) {
        Charge charge = chargeOf(key, permits);
        checkRate(charge.limit());
        return charge;
    }

    /** @throws IllegalStateException if nothing would release the permits */
    static void checkRate(RateLimit limit) {
        if (!limit.hasRate()) {
            throw new IllegalStateException("Limit '" + limit.name()
                    + "' has the algorithm CONCURRENCY, so its permits must be released. Call enter or call instead of"
                    + " tryAcquire, acquire or charge");
        }
    }

    /** @throws IllegalStateException if the limit cannot be charged beyond its capacity */
    private Charge chargeable(@Nullable String key, long permits) {
        Charge charge = chargeOf(key, permits);
        checkChargeable(charge.limit());
        return charge;
    }

    /** @throws IllegalStateException if the limit cannot be charged beyond its capacity */
    static void checkChargeable(RateLimit limit) {
        checkRate(limit);
        if (limit.lease() > 0) {
            throw new IllegalStateException("Limit '" + limit.name()
                    + "' has a lease, whose permits are handed out in debt, too. Call tryAcquire or acquire instead of charge,"
                    + " or set lease to 0");
        }
    }

    /** @throws IllegalArgumentException if there is no such limit */
    RateLimit limit() {
        EffectiveLimit known = limit;
        if (known == null) {
            known = lookup.apply(name);
            limit = known;
        }
        return plan == null ? known.get() : known.plan(plan);
    }
}
