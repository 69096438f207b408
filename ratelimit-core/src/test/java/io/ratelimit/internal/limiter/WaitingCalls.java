package io.ratelimit.internal.limiter;

import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.ratelimit.Algorithm;
import io.ratelimit.RateLimit;
import io.ratelimit.spi.Charge;
import io.ratelimit.spi.RateLimitStore;
import io.ratelimit.spi.StoreRequest;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;

/** Calls that wait for permits of concurrency limits, with a wait of five seconds. */
final class WaitingCalls {

    private WaitingCalls() {}

    static RateLimit limit(String name, long capacity) {
        return RateLimit.named(name)
                .algorithm(Algorithm.CONCURRENCY)
                .capacity(capacity)
                .maxWait(Duration.ofSeconds(5))
                .build();
    }

    static CompletableFuture<Settlement> enter(RateLimitGate gate, Charge... charges) {
        return gate.enterAsync(new AcquireRequest(List.of(charges), false, CallListener.NONE))
                .toCompletableFuture();
    }

    static Settlement entered(CompletableFuture<Settlement> call) throws Exception {
        return call.get(60, TimeUnit.SECONDS);
    }

    /** A call that never ends does not fail. */
    static void assertFails(CompletableFuture<Settlement> call) {
        assertThatExceptionOfType(ExecutionException.class).isThrownBy(() -> entered(call));
    }

    static long free(RateLimitStore store, RateLimit limit) {
        return store.decide(StoreRequest.peek(new Charge(limit, "alice", 0)))
                .await()
                .decision()
                .remaining();
    }
}
