package io.ratelimit.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import io.ratelimit.RateLimitStoreException;
import io.ratelimit.RateLimitStoreException.Reason;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.data.redis.RedisConnectionFailureException;

@Timeout(30)
class FirstConnectionTests {

    private static final Duration SHORT = Duration.ofMillis(1);

    private final AtomicInteger attempts = new AtomicInteger();

    private final AtomicInteger threads = new AtomicInteger();

    private final CountDownLatch hanging = new CountDownLatch(1);

    private volatile boolean refused = true;

    private final FirstConnection refusing = new FirstConnection(() -> {
        attempts.incrementAndGet();
        if (refused) {
            throw new IllegalStateException("refused");
        }
    });

    private final FirstConnection stuck = new FirstConnection(() -> {
        threads.incrementAndGet();
        try {
            hanging.await();
        } catch (InterruptedException ex) {
            throw new IllegalStateException(ex);
        }
    });

    @AfterEach
    void stop() {
        refusing.stop();
        stuck.stop();
    }

    @Test
    void isThereOnceMade() {
        refused = false;
        assertThat(served(refusing).join()).isEqualTo("served");
        assertThat(refusing.isMade()).isTrue();
        assertThat(attempts).hasValue(1);
    }

    @Test
    void refusedConnectionFailsTheCallerAndIsTriedAgainUntilItIsMade() {
        assertThatExceptionOfType(CompletionException.class)
                .isThrownBy(served(refusing)::join)
                .withCauseInstanceOf(RedisConnectionFailureException.class);
        refused = false;
        await().until(refusing::isMade);
        assertThat(served(refusing).join()).isEqualTo("served");
    }

    @Test
    void callersOfAHangingConnectionNeverConnectThemselvesAndAreServedWhenItIsMade() {
        List<CompletableFuture<String>> waiting =
                Stream.generate(() -> served(stuck)).limit(5).toList();
        stuck.await(SHORT);
        assertThat(waiting).noneMatch(CompletableFuture::isDone);
        hanging.countDown();
        assertThat(waiting).allSatisfy(caller -> assertThat(caller.join()).isEqualTo("served"));
        assertThat(threads).hasValue(1);
    }

    @Test
    void nothingIsDoneForACallerThatHasLeft() {
        AtomicInteger done = new AtomicInteger();
        stuck.thenRun(() -> CompletableFuture.completedFuture(done.incrementAndGet()))
                .cancel(false);
        hanging.countDown();
        served(stuck).join();
        assertThat(done).hasValue(0);
    }

    @Test
    void whoWaitsWhenAllIsClosedIsToldSo() {
        CompletableFuture<String> waiting = served(stuck);
        stuck.stop();
        assertClosed(waiting);
        assertClosed(served(stuck));
    }

    @Test
    void nobodyConnectsAfterTheEnd() {
        refusing.stop();
        assertClosed(served(refusing));
        assertThat(attempts).hasValue(0);
    }

    private static void assertClosed(CompletableFuture<String> caller) {
        assertThatExceptionOfType(CompletionException.class)
                .isThrownBy(caller::join)
                .havingCause()
                .isInstanceOfSatisfying(
                        RateLimitStoreException.class,
                        failure -> assertThat(failure.getReason()).isEqualTo(Reason.CLOSED));
    }

    private static CompletableFuture<String> served(FirstConnection connection) {
        return connection.thenRun(() -> CompletableFuture.completedFuture("served"));
    }
}
