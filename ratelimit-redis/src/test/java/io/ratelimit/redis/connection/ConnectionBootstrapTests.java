package io.ratelimit.redis.connection;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import io.ratelimit.RateLimitStoreException;
import io.ratelimit.RateLimitStoreException.Reason;
import io.ratelimit.internal.concurrent.ServiceThread;
import io.ratelimit.redis.HandTurnedThread;
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

@Timeout(180)
class ConnectionBootstrapTests {

    private static final Duration SHORT = Duration.ofMillis(1);

    private final AtomicInteger attempts = new AtomicInteger();

    private final AtomicInteger threads = new AtomicInteger();

    private final CountDownLatch hanging = new CountDownLatch(1);

    private volatile boolean refused = true;

    private volatile Error error;

    private final ConnectionBootstrap refusing = new ConnectionBootstrap("localhost:6379", () -> {
        attempts.incrementAndGet();
        if (error != null) {
            throw error;
        }
        if (refused) {
            throw new IllegalStateException("refused");
        }
    });

    private final ConnectionBootstrap stuck = new ConnectionBootstrap("localhost:6379", () -> {
        threads.incrementAndGet();
        awaitLatch(hanging);
    });

    @AfterEach
    void stop() {
        refusing.stop();
        stuck.stop();
    }

    @Test
    void interruptEndsTheWait() {
        Thread.currentThread().interrupt();
        stuck.await(Duration.ofHours(1));
        assertThat(Thread.interrupted()).isTrue();
    }

    /** A driver calls the application there, for example for credentials, and that may call a limiter. */
    @Test
    void connectingThreadMayBlock() {
        CompletableFuture<Thread> thread = new CompletableFuture<>();
        ConnectionBootstrap connection =
                new ConnectionBootstrap("localhost:6379", () -> thread.complete(Thread.currentThread()));
        connection.await(Duration.ofSeconds(20));
        assertThat(thread).isCompletedWithValueMatching(own -> own.isDaemon() && !(own instanceof ServiceThread));
        connection.stop();
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
    void slowContinuationOfACallThatHasFailedKeepsNoAttemptWaiting() {
        CountDownLatch registered = new CountDownLatch(1);
        CountDownLatch end = new CountDownLatch(1);
        ConnectionBootstrap connection = new ConnectionBootstrap("localhost:6379", () -> {
            awaitLatch(registered);
            if (refused) {
                throw new IllegalStateException("refused");
            }
        });
        var unused = served(connection).whenComplete((done, thrown) -> {
            refused = false;
            awaitLatch(end);
        });
        registered.countDown();
        try {
            await().atMost(Duration.ofSeconds(60)).until(connection::isMade);
        } finally {
            end.countDown();
            connection.stop();
        }
    }

    /** The next connections may be those of a client that does not know its servers yet. */
    @Test
    void isNotThereAfterTheEnd() {
        refused = false;
        served(refusing).join();
        refusing.stop();
        assertThat(refusing.isMade()).isFalse();
        assertClosed(served(refusing));
    }

    /** As of a library of another version on the class path. */
    @Test
    void errorFailsTheCallerAndIsTriedAgain() {
        error = new NoSuchMethodError("connect");
        assertThatExceptionOfType(CompletionException.class)
                .isThrownBy(served(refusing)::join)
                .withCauseInstanceOf(RedisConnectionFailureException.class)
                .withMessageContaining("localhost:6379");
        error = null;
        refused = false;
        await().until(refusing::isMade);
    }

    /** As a thread pool does that cannot create its thread: the task is queued, and the Error is the caller's. */
    @Test
    void threadThatCannotBeCreatedIsNoneOfTheCallersAndIsTriedAgainAtTheNextCall() {
        HandTurnedThread thread = new HandTurnedThread();
        AtomicInteger tried = new AtomicInteger();
        ConnectionBootstrap starving = new ConnectionBootstrap("localhost:6379", tried::incrementAndGet, thread);
        thread.failToStart();
        CompletableFuture<String> first = served(starving);
        assertThat(first).isNotDone();
        CompletableFuture<String> second = served(starving);
        thread.turn();
        assertThat(first.join()).isEqualTo("served");
        assertThat(second.join()).isEqualTo("served");
        assertThat(tried).hasValue(1);
    }

    @Test
    void laterAttemptThatCannotBeScheduledIsScheduledByTheNextCall() {
        HandTurnedThread thread = new HandTurnedThread();
        AtomicInteger tried = new AtomicInteger();
        ConnectionBootstrap starving = new ConnectionBootstrap(
                "localhost:6379",
                () -> {
                    if (tried.incrementAndGet() == 5) {
                        thread.failToStart();
                    }
                    throw new IllegalStateException("refused");
                },
                thread);
        assertThat(served(starving)).isNotDone();
        thread.pass(Duration.ofSeconds(1));
        assertThat(served(starving)).isCompletedExceptionally();
        thread.pass(Duration.ofSeconds(2));
        assertThat(tried.get()).isGreaterThan(6);
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
    void noConnectionIsMadeAfterTheEnd() {
        refusing.stop();
        assertClosed(served(refusing));
        assertThat(attempts).hasValue(0);
    }

    private static void awaitLatch(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException ex) {
            throw new IllegalStateException(ex);
        }
    }

    private static void assertClosed(CompletableFuture<String> caller) {
        assertThatExceptionOfType(CompletionException.class)
                .isThrownBy(caller::join)
                .havingCause()
                .isInstanceOfSatisfying(
                        RateLimitStoreException.class,
                        failure -> assertThat(failure.getReason()).isEqualTo(Reason.CLOSED));
    }

    private static CompletableFuture<String> served(ConnectionBootstrap connection) {
        return connection.thenRun(() -> CompletableFuture.completedFuture("served"));
    }
}
