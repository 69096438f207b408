package io.ratelimit.internal.limiter;

import io.ratelimit.Algorithm;
import io.ratelimit.RateLimit;
import io.ratelimit.spi.Charge;
import io.ratelimit.spi.RateLimitStore;
import io.ratelimit.spi.Waiter;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * Makes some decisions by each algorithm before traffic is accepted, so that classes are loaded and connections are open. Makes
 * only a few, because the threads of the JIT compiler would compete with the creation of the other beans. Uses its own buckets and
 * notifies no listener.
 */
public final class DecisionWarmUp {

    /** The maximum time for a round, in case the store never answers. */
    private static final int ROUND_SECONDS = 5;

    private static final int CALLS_AT_ONCE = 8;

    private static final List<RateLimit> LIMITS = Stream.concat(
                    // Most limits are token buckets.
                    Stream.of(Algorithm.TOKEN_BUCKET, Algorithm.TOKEN_BUCKET),
                    Stream.of(Algorithm.values()).filter(algorithm -> algorithm != Algorithm.CONCURRENCY))
            .map(algorithm -> RateLimit.named("warm-up")
                    .algorithm(algorithm)
                    .capacity(4)
                    .rate("1000/s")
                    .build())
            .toList();

    private final RateLimitGate gate;

    /** @param store without metrics, and with its own key prefix */
    public DecisionWarmUp(RateLimitStore store) {
        this.gate = new RateLimitGate(store, (charge, decision, outcome) -> {}, Waiter.parking());
    }

    /**
     * Decides one call alone and some together, in rounds.
     *
     * @param isOver whether no further round may begin
     * @return the number of decisions
     * @throws Exception if the store fails
     */
    public int run(BooleanSupplier isOver) throws Exception {
        int decided = 0;
        for (RateLimit limit : LIMITS) {
            if (isOver.getAsBoolean()) {
                return decided;
            }
            CompletableFuture.allOf(IntStream.range(0, CALLS_AT_ONCE)
                            .mapToObj(i -> gate.decideAsync(List.of(Charge.keyed(limit, "caller" + i / 2, 1)))
                                    .toCompletableFuture())
                            .toArray(CompletableFuture[]::new))
                    .get(ROUND_SECONDS, TimeUnit.SECONDS);
            gate.decide(Charge.keyed(limit, "caller", 1));
            decided += CALLS_AT_ONCE + 1;
        }
        return decided;
    }
}
