package io.ratelimit.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.RateLimitStoreException;
import io.ratelimit.redis.store.TestStores;
import io.ratelimit.spi.Charge;
import io.ratelimit.spi.RateLimitStore;
import io.ratelimit.spi.StoreOutcome;
import io.ratelimit.spi.StoreRequest;
import io.ratelimit.testing.TestLimits;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The thread that sends for others stands still, and the server says nothing: every caller comes back all the same. */
@Timeout(180)
class StalledSenderTests {

    private static final Charge CHARGE = new Charge(TestLimits.tokenBucket("quotes", 10, "10/s"), "alice", 1);

    private final CountDownLatch stalled = new CountDownLatch(1);

    private final CountDownLatch goOn = new CountDownLatch(1);

    private final RateLimitStore store = TestStores.over(new StallingServer(), Duration.ofMillis(200), "test");

    private final Executor threads = task -> {
        Thread thread = new Thread(task);
        thread.setDaemon(true);
        thread.start();
    };

    /** The first to send stands still; no call has an answer. */
    private final class StallingServer implements RateLimitScriptExecutor {

        @Override
        public CompletionStage<List<Long>> execute(List<byte[]> keys, byte[][] arguments) {
            stalled.countDown();
            await(goOn);
            return new CompletableFuture<>();
        }
    }

    private static void await(CountDownLatch latch) {
        try {
            assertThat(latch.await(30, TimeUnit.SECONDS)).isTrue();
        } catch (InterruptedException ex) {
            throw new IllegalStateException(ex);
        }
    }

    private CompletableFuture<Void> callBlocking() {
        return CompletableFuture.runAsync(() -> store.decide(CHARGE).await().decision(), threads);
    }

    private CompletableFuture<Void> callAsync() {
        return store.decide(StoreRequest.of(List.of(CHARGE)))
                .toStage()
                .thenApply(StoreOutcome::decisions)
                .toCompletableFuture()
                .thenAccept(decisions -> {});
    }

    @Test
    void everybodyComesBackWhileItStandsStillAndAfterwards() {
        CompletableFuture<Void> sender = callBlocking();
        await(stalled);
        List<CompletableFuture<Void>> others = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            others.add(callBlocking());
            others.add(callAsync());
        }
        others.forEach(StalledSenderTests::fails);
        goOn.countDown();
        fails(sender);
        fails(callBlocking());
        fails(callAsync());
    }

    private static void fails(CompletableFuture<Void> call) {
        assertThat(call)
                .failsWithin(Duration.ofSeconds(20))
                .withThrowableThat()
                .havingCause()
                .isInstanceOf(RateLimitStoreException.class);
    }
}
