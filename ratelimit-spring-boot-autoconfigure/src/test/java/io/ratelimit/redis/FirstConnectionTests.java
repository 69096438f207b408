package io.ratelimit.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.data.redis.RedisConnectionFailureException;

@Timeout(30)
class FirstConnectionTests {

    private static final Duration LONG = Duration.ofSeconds(20);

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
        refusing.require(LONG);
        assertThat(refusing.isMade()).isTrue();
        assertThat(attempts).hasValue(1);
    }

    @Test
    void refusedConnectionFailsTheCallerAndIsTriedAgainUntilItIsMade() {
        assertThatExceptionOfType(RedisConnectionFailureException.class).isThrownBy(() -> refusing.require(LONG));
        refused = false;
        await().until(refusing::isMade);
        refusing.require(SHORT);
    }

    @Test
    void callersOfAHangingConnectionWaitNoLongerThanTheyWantAndNeverConnectThemselves() {
        for (int i = 0; i < 5; i++) {
            assertThatExceptionOfType(RedisConnectionFailureException.class).isThrownBy(() -> stuck.require(SHORT));
        }
        assertThat(threads).hasValueLessThanOrEqualTo(1);
        hanging.countDown();
        stuck.require(LONG);
    }

    @Test
    void callersThatDoNotBlockAreServedWhenItIsMade() {
        CompletableFuture<String> waiting = stuck.thenRun(() -> CompletableFuture.completedFuture("served"), LONG);
        assertThat(waiting).isNotDone();
        hanging.countDown();
        assertThat(waiting.join()).isEqualTo("served");
    }

    @Test
    void callersThatDoNotBlockFailWhenItTakesTooLong() {
        CompletableFuture<String> waiting = stuck.thenRun(() -> CompletableFuture.completedFuture("served"), SHORT);
        assertThatExceptionOfType(CompletionException.class)
                .isThrownBy(waiting::join)
                .withCauseInstanceOf(RedisConnectionFailureException.class);
    }
}
