package io.ratelimit.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.awaitility.Awaitility.await;

import io.ratelimit.Algorithm;
import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitStoreException;
import io.ratelimit.RateLimitStoreException.Reason;
import io.ratelimit.internal.concurrent.BoundedWait;
import io.ratelimit.redis.connection.RedisConnector;
import io.ratelimit.redis.store.TestStores;
import io.ratelimit.spi.BucketChange;
import io.ratelimit.spi.Charge;
import io.ratelimit.spi.RateLimitStore;
import io.ratelimit.spi.StoreOutcome;
import io.ratelimit.spi.StoreRequest;
import io.ratelimit.testing.LongRunning;
import io.ratelimit.testing.TestLimits;
import io.ratelimit.testing.redis.RedisServer;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletionException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A Redis that hangs or is gone is a failure of the store, and soon; never a hang, never a decision. */
@LongRunning
@Timeout(180)
class RedisFailureTests {

    private static final Duration TIMEOUT = Duration.ofSeconds(1);

    private final RedisServer redis = new RedisServer();

    private final RedisConnector connector =
            new RedisConnector(redis.connections(), TIMEOUT, RateLimitScript.load(), RateLimitLibrary.load());

    private final RateLimitStore store = TestStores.over(connector, TIMEOUT, "test");

    /** Whose calls do not time out, however busy the machine is. */
    private final RateLimitStore patient = TestStores.over(connector, "test");

    private final Charge charge = new Charge(TestLimits.tokenBucket("limit", 1_000_000, "1/h"), "key", 1);

    @AfterEach
    void close() throws Exception {
        connector.destroy();
        redis.close();
    }

    @Test
    void hangingServerIsATimeout() {
        awaitDecision();
        redis.hang();
        assertThat(failure().getReason()).isEqualTo(Reason.TIMEOUT);
        // The caller and the circuit breaker see the same deadline, each on its own thread.
        await().until(() -> asyncFailure().getReason() == Reason.SHORT_CIRCUITED);
        assertThat(failure().getCause())
                .isInstanceOfSatisfying(
                        RateLimitStoreException.class,
                        known -> assertThat(known.getReason()).isEqualTo(Reason.TIMEOUT));
        redis.goOn();
        awaitDecision();
    }

    @Test
    void serverThatHangsBeforeTheFirstConnectIsNoHang() {
        redis.hang();
        connector.connect();
        assertThat(failure()).isNotNull();
        assertThat(asyncFailure()).isNotNull();
        redis.goOn();
        awaitDecision();
    }

    @Test
    void stoppedServerIsAnErrorUntilItIsBack() {
        awaitDecision();
        redis.kill();
        assertThat(failure().getReason()).isEqualTo(Reason.UNREACHABLE);
        assertThat(asyncFailure().getReason()).isEqualTo(Reason.SHORT_CIRCUITED);
        redis.restart();
        awaitDecision();
    }

    @ParameterizedTest
    @EnumSource(names = "CONCURRENCY", mode = EnumSource.Mode.EXCLUDE)
    void fullServerIsAnErrorAndChangesNothing(Algorithm algorithm) {
        awaitDecision();
        RateLimit limit =
                RateLimit.named("full").algorithm(algorithm).rate("5/h").build();
        List<Charge> one = List.of(new Charge(limit, "key", 1));
        patient.decide(StoreRequest.of(one)).await();
        redis.fill();
        assertThat(catchThrowableOfType(
                                RateLimitStoreException.class,
                                () -> patient.decide(StoreRequest.of(one))
                                        .await()
                                        .decisions())
                        .getReason())
                .isEqualTo(Reason.OUT_OF_MEMORY);
        redis.drain();
        await().ignoreExceptions()
                .until(() -> patient.decide(StoreRequest.peek(one.get(0)))
                                .await()
                                .decision()
                                .remaining()
                        == 4);
        assertThat(patient.decide(StoreRequest.of(one)).await().decision().remaining())
                .isEqualTo(3);
    }

    @Test
    void afterTheEndOfTheConnectionsThereIsOnlyAnError() throws Exception {
        awaitDecision();
        connector.destroy();
        assertThat(failure().getReason()).isEqualTo(Reason.CLOSED);
        assertThat(asyncFailure().getReason()).isEqualTo(Reason.CLOSED);
        assertThat(catchThrowableOfType(
                        RateLimitStoreException.class,
                        () -> BoundedWait.get(
                                store.change(charge.limit(), charge.key(), BucketChange.RESET),
                                RateLimitStore.LONGEST)))
                .isNotNull();
    }

    private void awaitDecision() {
        await().ignoreExceptions()
                .until(() -> store.decide(charge).await().decision().allowed());
        await().ignoreExceptions()
                .until(() -> store.decide(StoreRequest.of(List.of(charge)))
                        .toStage()
                        .thenApply(StoreOutcome::decisions)
                        .toCompletableFuture()
                        .join()
                        .get(0)
                        .allowed());
    }

    private RateLimitStoreException failure() {
        return catchThrowableOfType(
                RateLimitStoreException.class,
                () -> store.decide(StoreRequest.of(List.of(charge))).await().decisions());
    }

    private RateLimitStoreException asyncFailure() {
        CompletionException failure = catchThrowableOfType(
                CompletionException.class,
                () -> store.decide(StoreRequest.of(List.of(charge)))
                        .toStage()
                        .thenApply(StoreOutcome::decisions)
                        .toCompletableFuture()
                        .join());
        return (RateLimitStoreException) failure.getCause();
    }
}
