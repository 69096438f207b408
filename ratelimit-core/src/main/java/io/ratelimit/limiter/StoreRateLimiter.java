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
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Applies one limit. Looks the limit up at the first call, because a bean may get its limiter before the limit is declared. */
final class StoreRateLimiter implements RateLimiter {

    private static final Entry DISABLED = () -> {};

    private final String name;

    private final Function<String, EffectiveLimit> lookup;

    private final RateLimitGate gate;

    /** {@code null}: the limit's own numbers. */
    private final @Nullable String plan;

    private volatile @Nullable EffectiveLimit limit;

    StoreRateLimiter(String name, Function<String, EffectiveLimit> lookup, RateLimitGate gate) {
        this(name, lookup, gate, null);
    }

    private StoreRateLimiter(
            String name, Function<String, EffectiveLimit> lookup, RateLimitGate gate, @Nullable String plan) {
        this.name = name;
        this.lookup = lookup;
        this.gate = gate;
        this.plan = plan;
    }

    /** Returns the name as it was requested. */
    String name() {
        return name;
    }

    @Override
    public RateLimiter withPlan(@Nullable String name) {
        return new StoreRateLimiter(this.name, lookup, gate, name == null || name.isEmpty() ? null : name);
    }

    @Override
    public RateLimitDecision tryAcquire(String key, long permits) {
        return tryAcquire(keyed(key, permits));
    }

    @Override
    public RateLimitDecision tryAcquire(long permits) {
        return tryAcquire(keyless(permits));
    }

    private RateLimitDecision tryAcquire(Charge charge) {
        checkRate(charge.limit());
        return charge.limit().enabled() ? gate.decide(charge) : unlimited(charge);
    }

    @Override
    public CompletionStage<RateLimitDecision> tryAcquireAsync(String key, long permits) {
        return tryAcquireAsync(() -> keyed(key, permits));
    }

    @Override
    public CompletionStage<RateLimitDecision> tryAcquireAsync(long permits) {
        return tryAcquireAsync(() -> keyless(permits));
    }

    private CompletionStage<RateLimitDecision> tryAcquireAsync(Supplier<Charge> charge) {
        return async(
                () -> rated(charge.get()),
                enabled -> gate.decideAsync(List.of(enabled)).thenApply(JointDecision::tightest),
                disabled -> CompletableFuture.completedFuture(unlimited(disabled)));
    }

    @Override
    public void acquire(String key, long permits) {
        acquire(keyed(key, permits));
    }

    @Override
    public void acquire(long permits) {
        acquire(keyless(permits));
    }

    private void acquire(Charge charge) {
        checkRate(charge.limit());
        if (charge.limit().enabled()) {
            gate.enter(charge);
        }
    }

    @Override
    public CompletionStage<Void> acquireAsync(String key, long permits) {
        return acquireAsync(() -> keyed(key, permits));
    }

    @Override
    public CompletionStage<Void> acquireAsync(long permits) {
        return acquireAsync(() -> keyless(permits));
    }

    private CompletionStage<Void> acquireAsync(Supplier<Charge> charge) {
        return async(
                () -> rated(charge.get()),
                enabled -> gate.enterAsync(List.of(enabled)),
                disabled -> CompletableFuture.completedFuture(null));
    }

    private static Charge rated(Charge charge) {
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

    @Override
    public Entry enter(String key, long permits) {
        return enter(keyed(key, permits));
    }

    @Override
    public Entry enter(long permits) {
        return enter(keyless(permits));
    }

    private Entry enter(Charge charge) {
        return charge.limit().enabled() ? entry(gate.enter(entering(charge))) : DISABLED;
    }

    @Override
    public CompletionStage<Entry> enterAsync(String key, long permits) {
        return enterAsync(() -> keyed(key, permits));
    }

    @Override
    public CompletionStage<Entry> enterAsync(long permits) {
        return enterAsync(() -> keyless(permits));
    }

    private CompletionStage<Entry> enterAsync(Supplier<Charge> charge) {
        return async(
                charge,
                enabled -> entry(gate.enterAsync(entering(enabled)).toCompletableFuture()),
                disabled -> CompletableFuture.completedFuture(DISABLED));
    }

    private static AcquireRequest entering(Charge charge) {
        return AcquireRequest.of(List.of(charge), CallListener.NONE);
    }

    private static Entry entry(Settlement settlement) {
        return settlement::release;
    }

    /** Returns a future that ends the wait when it is cancelled. */
    private static CompletableFuture<Entry> entry(CompletableFuture<Settlement> entered) {
        CompletableFuture<Entry> result = new CompletableFuture<>();
        var unused = entered.whenComplete((refund, thrown) -> {
            if (thrown != null) {
                result.completeExceptionally(Futures.unwrap(thrown));
            } else if (!result.complete(entry(refund))) {
                refund.release();
            }
        });
        var unusedToo = result.whenComplete((entry, thrown) -> entered.cancel(false));
        return result;
    }

    @Override
    public void charge(String key, long permits) {
        charge(keyed(key, permits));
    }

    @Override
    public void charge(long permits) {
        charge(keyless(permits));
    }

    private void charge(Charge charge) {
        checkCharged(charge.limit());
        if (charge.limit().enabled()) {
            gate.charge(charge);
        }
    }

    /** @throws IllegalStateException if the limit cannot be charged beyond its capacity */
    private static void checkCharged(RateLimit limit) {
        checkRate(limit);
        if (limit.lease() > 0) {
            throw new IllegalStateException("Limit '" + limit.name()
                    + "' has a lease, whose permits are handed out in debt, too. Call tryAcquire or acquire instead of charge,"
                    + " or set lease to 0");
        }
    }

    @Override
    public CompletionStage<Void> chargeAsync(String key, long permits) {
        return chargeAsync(() -> keyed(key, permits));
    }

    @Override
    public CompletionStage<Void> chargeAsync(long permits) {
        return chargeAsync(() -> keyless(permits));
    }

    private CompletionStage<Void> chargeAsync(Supplier<Charge> charge) {
        return async(
                () -> {
                    Charge made = charge.get();
                    checkCharged(made.limit());
                    return made;
                },
                gate::chargeAsync,
                disabled -> CompletableFuture.completedFuture(null));
    }

    @Override
    public RateLimitDecision peek(String key) {
        return peek(keyed(key, 1));
    }

    @Override
    public RateLimitDecision peek() {
        return peek(keyless(1));
    }

    private RateLimitDecision peek(Charge charge) {
        return charge.limit().enabled() ? gate.peek(charge) : unlimited(charge);
    }

    @Override
    public CompletionStage<RateLimitDecision> peekAsync(String key) {
        return peekAsync(() -> keyed(key, 1));
    }

    @Override
    public CompletionStage<RateLimitDecision> peekAsync() {
        return peekAsync(() -> keyless(1));
    }

    private CompletionStage<RateLimitDecision> peekAsync(Supplier<Charge> charge) {
        return async(charge, gate::peekAsync, disabled -> CompletableFuture.completedFuture(unlimited(disabled)));
    }

    @Override
    public void reset(String key) {
        gate.reset(keyed(key, 0));
    }

    @Override
    public void reset() {
        gate.reset(keyless(0));
    }

    @Override
    public CompletionStage<Void> resetAsync(String key) {
        return Futures.start(() -> gate.resetAsync(keyed(key, 0)));
    }

    @Override
    public CompletionStage<Void> resetAsync() {
        return Futures.start(() -> gate.resetAsync(keyless(0)));
    }

    /** Starts asynchronous work, unless the limit is disabled. Exceptions complete the stage. */
    private static <T> CompletionStage<T> async(
            Supplier<Charge> charge,
            Function<Charge, CompletionStage<T>> enabled,
            Function<Charge, CompletionStage<T>> disabled) {
        return Futures.start(() -> {
            Charge made = charge.get();
            return (made.limit().enabled() ? enabled : disabled).apply(made);
        });
    }

    private static RateLimitDecision unlimited(Charge charge) {
        return RateLimitDecision.unlimited(charge.limit().capacity());
    }

    private Charge keyed(@Nullable String key, long permits) {
        return Charge.keyed(limit(), key, permits);
    }

    private Charge keyless(long permits) {
        return new Charge(limit(), null, permits);
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
