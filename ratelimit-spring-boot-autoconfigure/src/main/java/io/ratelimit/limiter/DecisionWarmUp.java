package io.ratelimit.limiter;

import io.ratelimit.Algorithm;
import io.ratelimit.Charge;
import io.ratelimit.RateLimit;
import io.ratelimit.Waiter;
import io.ratelimit.store.RateLimitStore;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * Makes some hundred decisions before traffic is accepted, so that classes are loaded and compiled and connections are
 * open. Uses its own buckets and notifies no listener.
 */
public final class DecisionWarmUp {

    private static final int ROUNDS = 50;

    private static final int CALLS_AT_ONCE = 8;

    private static final List<RateLimit> LIMITS = Stream.concat(
                    // Most limits are token buckets.
                    Stream.of(Algorithm.TOKEN_BUCKET, Algorithm.TOKEN_BUCKET), Stream.of(Algorithm.values()))
            .map(algorithm -> RateLimit.named("warm-up")
                    .algorithm(algorithm)
                    .capacity(4)
                    .rate("1000/s")
                    .build())
            .toList();

    private final RateLimitGate gate;

    private final LongSupplier nanos;

    /** @param store without metrics, and with its own key prefix */
    public DecisionWarmUp(RateLimitStore store) {
        this(store, System::nanoTime);
    }

    /** @param nanos a clock */
    DecisionWarmUp(RateLimitStore store, LongSupplier nanos) {
        this.gate = new RateLimitGate(store, (charge, decision, outcome) -> {}, Waiter.parking());
        this.nanos = nanos;
    }

    /**
     * Decides one call alone and some together, in rounds, until the time is up.
     *
     * @return the number of decisions
     * @throws Exception if the store fails
     */
    public int run(Duration time) throws Exception {
        long end = nanos.getAsLong() + time.toNanos();
        int decided = 0;
        for (int round = 0; round < ROUNDS; round++) {
            long left = end - nanos.getAsLong();
            if (left <= 0) {
                break;
            }
            RateLimit limit = LIMITS.get(round % LIMITS.size());
            CompletableFuture.allOf(IntStream.range(0, CALLS_AT_ONCE)
                            .mapToObj(i -> gate.decideAsync(List.of(Charge.keyed(limit, "caller" + i / 2, 1)))
                                    .toCompletableFuture())
                            .toArray(CompletableFuture[]::new))
                    .get(left, TimeUnit.NANOSECONDS);
            gate.decide(Charge.keyed(limit, "caller", 1));
            decided += CALLS_AT_ONCE + 1;
        }
        return decided;
    }
}
