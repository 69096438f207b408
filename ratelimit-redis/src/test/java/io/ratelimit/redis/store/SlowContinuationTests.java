package io.ratelimit.redis.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitStoreException;
import io.ratelimit.internal.concurrent.ServiceThread;
import io.ratelimit.internal.limiter.AcquireRequest;
import io.ratelimit.internal.limiter.CallListener;
import io.ratelimit.internal.limiter.RateLimitGate;
import io.ratelimit.internal.store.lease.LeasingRateLimitStore;
import io.ratelimit.redis.RateLimitScriptExecutor;
import io.ratelimit.redis.door.GuardedRedis;
import io.ratelimit.spi.Charge;
import io.ratelimit.spi.RateLimitStore;
import io.ratelimit.spi.StoreRequest;
import io.ratelimit.spi.Waiter;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BiConsumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** What applications have follow a call that has failed late keeps no other call waiting. */
@Timeout(180)
class SlowContinuationTests {

    private static final Duration TIMEOUT = Duration.ofMillis(100);

    private static final RateLimit LIMIT =
            RateLimit.named("quotes").capacity(10).rate("10/s").lease(5).build();

    private static final List<Charge> CHARGE = List.of(new Charge(LIMIT, "key", 1));

    private static final int SLOW = 20;

    private final CountDownLatch end = new CountDownLatch(1);

    private final AtomicInteger held = new AtomicInteger();

    private final GuardedRedis redis = new GuardedRedis(new Silent(), TIMEOUT, "test");

    private final RateLimitStore store = new RedisRateLimitStore(redis, "test");

    private final RateLimitGate gate = new RateLimitGate(store, (charge, decision, outcome) -> {}, Waiter.parking());

    private static final class Silent implements RateLimitScriptExecutor {

        @Override
        public CompletionStage<List<Long>> execute(List<byte[]> keys, byte[][] arguments) {
            return new CompletableFuture<>();
        }
    }

    @AfterEach
    void stop() {
        end.countDown();
        redis.destroy();
    }

    static Stream<Arguments> blockingCalls() {
        AcquireRequest refundable = new AcquireRequest(CHARGE, true, CallListener.NONE);
        return Stream.of(
                call("refundable", (gate, store) -> gate.enter(refundable)),
                call(
                        "leased",
                        (gate, store) -> new LeasingRateLimitStore(store, TIMEOUT)
                                .decide(StoreRequest.of(CHARGE))
                                .await()
                                .decisions()));
    }

    private static Arguments call(String name, BiConsumer<RateLimitGate, RateLimitStore> call) {
        return Arguments.argumentSet(name, call);
    }

    /** As many asynchronous calls as there are threads for what follows, and more, are held by what follows them. */
    @ParameterizedTest
    @MethodSource("blockingCalls")
    void blockingCallEndsInTime(BiConsumer<RateLimitGate, RateLimitStore> call) {
        for (int i = 0; i < SLOW; i++) {
            var unused = gate.enterAsync(new AcquireRequest(CHARGE, false, CallListener.NONE))
                    .handle((refund, thrown) -> hold());
        }
        CompletableFuture<Void> blocking =
                CompletableFuture.runAsync(() -> call.accept(gate, store), SlowContinuationTests::start);
        await().until(() -> held.get() > 0);
        assertThat(blocking)
                .failsWithin(Duration.ofSeconds(60))
                .withThrowableThat()
                .havingCause()
                .isInstanceOf(RateLimitStoreException.class);
    }

    private static void start(Runnable task) {
        Thread thread = new Thread(task);
        thread.setDaemon(true);
        thread.start();
    }

    private boolean hold() {
        held.incrementAndGet();
        try {
            return end.await(30, TimeUnit.SECONDS);
        } catch (InterruptedException ex) {
            throw new IllegalStateException(ex);
        }
    }

    @Test
    void nothingOfAnApplicationRunsOnAThreadThatOthersDependOn() {
        Stream.of(
                        gate.enterAsync(new AcquireRequest(CHARGE, false, CallListener.NONE)),
                        gate.enterAsync(new AcquireRequest(CHARGE, true, CallListener.NONE)))
                .map(call -> call.handle((refund, thrown) -> ServiceThread.isCurrent()))
                .forEach(onServiceThread -> assertThat(onServiceThread.toCompletableFuture())
                        .succeedsWithin(Duration.ofSeconds(60))
                        .isEqualTo(false));
    }

    @Test
    void asynchronousCallEndsThoughWhatFollowsOthersTakesLong() {
        for (int i = 0; i < SLOW; i++) {
            var unused = gate.enterAsync(new AcquireRequest(CHARGE, false, CallListener.NONE))
                    .handle((verdict, thrown) -> hold());
        }
        await().atMost(30, TimeUnit.SECONDS).until(() -> held.get() > 4);
        assertThat(gate.enterAsync(new AcquireRequest(CHARGE, false, CallListener.NONE))
                        .toCompletableFuture())
                .failsWithin(Duration.ofSeconds(60))
                .withThrowableThat()
                .withCauseInstanceOf(RateLimitStoreException.class);
    }
}
