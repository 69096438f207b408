package io.ratelimit.redis.door;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.awaitility.Awaitility.await;

import io.ratelimit.RateLimitStoreException;
import io.ratelimit.RateLimitStoreException.Reason;
import io.ratelimit.redis.HandTurnedThread;
import io.ratelimit.redis.HangingDriver;
import io.ratelimit.redis.RateLimitScript;
import io.ratelimit.redis.RateLimitScriptExecutor;
import io.ratelimit.redis.ScriptedServers;
import io.ratelimit.redis.connection.TemplateScriptExecutor;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A driver that blocks holds threads of the starter, never its callers. */
@Timeout(180)
class BlockingDriverTests {

    private static final int THREADS = 16;

    private static final int QUEUE = 1_000;

    private static final Duration SHORT = Duration.ofMillis(500);

    private static final Duration LONG = Duration.ofHours(1);

    private final HangingDriver driver = new HangingDriver();

    private final RateLimitScriptExecutor executor = new TemplateScriptExecutor(driver, RateLimitScript.load());

    private final HandTurnedThread probing = new HandTurnedThread();

    @AfterEach
    void letGo() {
        driver.letGo();
    }

    @Test
    void callersAreBackAtTheDeadlineAlsoIfTheyAreMoreThanThereAreThreads() {
        GuardedRedis redis = redis(SHORT);
        List<CompletableFuture<List<Long>>> calls = calls(redis, 3 * THREADS);
        assertThat(calls)
                .extracting(BlockingDriverTests::reasonOf)
                .contains(Reason.TIMEOUT)
                .isSubsetOf(Reason.TIMEOUT, Reason.SHORT_CIRCUITED);
    }

    @Test
    void nothingIsDoneForACallerThatHasLeftBeforeAThreadCameToIt() {
        List<CompletableFuture<List<Long>>> calls = Stream.generate(
                        () -> Deadlines.in(LONG).bound(execute().toCompletableFuture()))
                .limit(3 * THREADS)
                .toList();
        await().until(() -> driver.callers() == THREADS);
        calls.forEach(call -> call.cancel(false));
        driver.letGo();
        assertThatExceptionOfType(CompletionException.class)
                .isThrownBy(execute().toCompletableFuture()::join)
                .withMessageContaining("let go");
        assertThat(driver.callers()).isEqualTo(THREADS + 1);
    }

    @Test
    void noMoreCallsWaitThanMay() {
        GuardedRedis redis = redis(LONG);
        List<CompletableFuture<List<Long>>> calls = calls(redis, THREADS + QUEUE);
        assertThat(calls).noneMatch(CompletableFuture::isDone);
        assertThat(calls(redis, 3))
                .allMatch(CompletableFuture::isDone)
                .extracting(BlockingDriverTests::reasonOf)
                .containsOnly(Reason.OVERLOADED);
        driver.letGo();
        assertThat(calls).extracting(BlockingDriverTests::reasonOf).containsOnly(Reason.UNREACHABLE);
    }

    private CompletionStage<List<Long>> execute() {
        return executor.execute(ScriptedServers.keys("key"), new byte[0][]);
    }

    private GuardedRedis redis(Duration timeout) {
        return new GuardedRedis(executor, timeout, "test", true, probing, probing::nanos);
    }

    private static List<CompletableFuture<List<Long>>> calls(GuardedRedis redis, int number) {
        return Stream.generate(() -> redis.execute(ScriptedServers.keys("key"), new byte[0][], redis.deadline()))
                .limit(number)
                .toList();
    }

    private static Reason reasonOf(CompletableFuture<?> call) {
        CompletionException failure = catchThrowableOfType(CompletionException.class, call::join);
        return ((RateLimitStoreException) failure.getCause()).getReason();
    }
}
