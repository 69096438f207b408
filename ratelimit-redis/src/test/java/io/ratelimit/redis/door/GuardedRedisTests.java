package io.ratelimit.redis.door;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.ratelimit.RateLimitStoreException;
import io.ratelimit.RateLimitStoreException.Reason;
import io.ratelimit.redis.ClosedServers;
import io.ratelimit.redis.HandTurnedThread;
import io.ratelimit.redis.ScriptedServers;
import io.ratelimit.redis.store.TestStores;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeoutException;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Each server is judged by its own answers. */
@Timeout(180)
@SuppressWarnings("FutureReturnValueIgnored") // What is sent counts, or what becomes of others.
class GuardedRedisTests {

    private static final Duration SECOND = Duration.ofSeconds(1);

    private static final byte[][] NOTHING = {};

    private final ScriptedServers servers = new ScriptedServers("alpha", "beta");

    private final HandTurnedThread thread = new HandTurnedThread();

    private final GuardedRedis redis =
            new GuardedRedis(servers, Duration.ofHours(1), "test", true, thread, thread::nanos);

    @AfterEach
    void stop() {
        redis.destroy();
    }

    @Test
    void serverThatIsSilentIsSentNothingButProbes() {
        servers.silence("alpha");
        assertThat(reasonOf(ask("alpha"))).isEqualTo(Reason.TIMEOUT);
        IntStream.range(0, 10).forEach(i -> assertThat(reasonOf(ask("alpha"))).isEqualTo(Reason.SHORT_CIRCUITED));
        assertThat(servers.calls()).containsExactly("alpha");
        assertThat(servers.probes()).isEmpty();
        thread.pass(SECOND);
        assertThat(servers.probes()).isNotEmpty().containsOnly("alpha");
    }

    /** By work in the background, without a call. */
    @Test
    void probesThatCouldNotBeStartedAreResumed() {
        GuardedRedis impatient = new GuardedRedis(servers, SECOND, "test", true, thread, thread::nanos);
        servers.silence("alpha");
        thread.failToStart();
        impatient.execute(ScriptedServers.keys("alpha"), NOTHING, impatient.deadline());
        thread.forget();
        thread.pass(Duration.ofMillis(1_999));
        impatient.executeInBackground(ScriptedServers.keys("alpha"), NOTHING, impatient.deadline());
        assertThat(thread.isIdle()).isTrue();
        thread.pass(Duration.ofMillis(2));
        impatient.executeInBackground(ScriptedServers.keys("alpha"), NOTHING, impatient.deadline());
        thread.pass(SECOND);
        assertThat(servers.probes()).isNotEmpty();
        impatient.destroy();
    }

    /** It is probed, however often that fails. */
    @Test
    void probeOfAServerThatCannotBeFoundHasFailed() {
        GuardedRedis impatient = new GuardedRedis(servers, SECOND, "test", true, thread, thread::nanos);
        servers.silence("alpha");
        impatient.execute(ScriptedServers.keys("alpha"), NOTHING, impatient.deadline());
        servers.forgetTopology();
        servers.probes().clear();
        for (int i = 0; i < 40; i++) {
            thread.pass(Duration.ofMillis(250));
        }
        assertThat(servers.probes()).isEmpty();
        assertThat(failureOf(impatient.execute(ScriptedServers.keys("alpha"), NOTHING, impatient.deadline())))
                .hasMessageContainingAll("circuit breaker open", "Cannot determine the servers of the cluster");
        servers.knowTopology();
        servers.heal("alpha");
        thread.pass(SECOND);
        assertThat(servers.probes()).containsExactly("alpha");
        assertThat(thread.isIdle()).isTrue();
        impatient.destroy();
    }

    /** A driver may take longer for a connection to a silent server than for a probe. */
    @Test
    void callsThatAreRefusedWhileAConnectionIsMadeStartNoSecondRoundOfProbes() {
        GuardedRedis impatient = new GuardedRedis(servers, SECOND, "test", true, thread, thread::nanos);
        servers.whileReconnecting(() -> {
            for (int i = 0; i < 10; i++) {
                thread.stall(SECOND);
                impatient.executeInBackground(ScriptedServers.keys("alpha"), NOTHING, impatient.deadline());
            }
        });
        servers.silence("alpha");
        impatient.execute(ScriptedServers.keys("alpha"), NOTHING, impatient.deadline());
        thread.pass(SECOND);
        servers.whileReconnecting(() -> {});
        servers.probes().clear();
        thread.pass(SECOND);
        assertThat(servers.probes()).hasSize(9);
        servers.heal("alpha");
        thread.pass(SECOND);
        assertThat(thread.isIdle()).isTrue();
        impatient.destroy();
    }

    @Test
    void callAfterTheProbesWereStoppedIsRefused() {
        GuardedRedis stopped = new GuardedRedis(servers, SECOND, "test", true, thread, thread::nanos);
        servers.silence("alpha");
        stopped.execute(ScriptedServers.keys("alpha"), NOTHING, stopped.deadline());
        thread.shutdownNow();
        thread.pass(Duration.ofMinutes(1));
        assertThat(reasonOf(stopped.execute(ScriptedServers.keys("alpha"), NOTHING, stopped.deadline())))
                .isEqualTo(Reason.SHORT_CIRCUITED);
    }

    @Test
    void othersAreAskedAllTheSame() {
        servers.silence("alpha");
        ask("alpha");
        assertThat(ask("beta")).isCompleted();
        assertThat(servers.calls()).containsExactly("alpha", "beta");
    }

    @Test
    void serverIsAskedAgainAfterAProbeThatIsAnswered() {
        servers.silence("alpha");
        ask("alpha");
        thread.pass(SECOND);
        servers.heal("alpha");
        thread.pass(SECOND);
        assertThat(ask("alpha")).isCompleted();
        int before = servers.probes().size();
        thread.pass(SECOND);
        assertThat(servers.probes()).hasSize(before);
        assertThat(thread.isIdle()).isTrue();
    }

    @Test
    void connectionOfASilentServerIsRenewed() {
        servers.silence("alpha");
        ask("alpha");
        thread.pass(SECOND);
        assertThat(servers.renewed()).isNotEmpty().containsOnly("alpha");
    }

    @Test
    void serverThatIsNoLongerThereIsNotProbedAnyMore() {
        servers.silence("alpha");
        servers.silence("beta");
        ask("alpha");
        ask("beta");
        thread.pass(SECOND);
        assertThat(servers.probes()).contains("alpha", "beta");
        servers.remove("alpha");
        servers.probes().clear();
        thread.pass(SECOND);
        assertThat(servers.probes()).isNotEmpty().containsOnly("beta");
    }

    /** Or one that had the name before. */
    @Test
    void serverThatIsThereAgainIsUnknown() {
        servers.silence("alpha");
        ask("alpha");
        servers.remove("alpha");
        thread.pass(SECOND);
        assertThat(thread.isIdle()).isTrue();
        servers.heal("alpha");
        assertThat(ask("alpha")).isCompleted();
    }

    /** Servers that take over from each other, each with an address of its own, would be remembered for ever. */
    @Test
    void checkForgetsAServerThatIsNoLongerOneOfThem() {
        servers.fail("alpha", new IllegalStateException("ERR some command"));
        for (int i = 0; i < 9; i++) {
            ask("alpha");
        }
        servers.remove("alpha");
        redis.check();
        ask("alpha");
        ask("alpha");
        assertThat(servers.calls()).as("the earlier failures do not count").hasSize(11);
    }

    @Test
    void checkSaysWhatIsWrongWithOne() {
        assertThat(redis.check()).isCompleted();
        assertThat(servers.probes()).containsExactly("alpha", "beta");
        servers.fail("beta", new IllegalStateException("OOM no room"));
        assertThat(reasonOf(redis.check())).isEqualTo(Reason.OUT_OF_MEMORY);
    }

    /** It is late once, and no call pays for that. */
    @Test
    void checkThatFailsOnceIsRepeated() {
        servers.answer("beta", () -> {
            servers.heal("beta");
            return CompletableFuture.failedFuture(new TimeoutException());
        });
        assertThat(redis.check()).isCompleted();
        assertThat(servers.probes()).containsExactly("alpha", "beta", "beta");
        assertThat(ask("beta")).isCompleted();
        thread.pass(SECOND);
        assertThat(servers.probes()).hasSize(3);
    }

    @Test
    void checksNeverOpenTheCircuitBreaker() {
        servers.silence("beta");
        for (int i = 0; i < 100; i++) {
            assertThat(reasonOf(redis.check())).isEqualTo(Reason.TIMEOUT);
        }
        thread.pass(SECOND);
        servers.heal("beta");
        assertThat(ask("beta")).isCompleted();
        assertThat(servers.calls()).containsExactly("beta");
        assertThat(redis.check()).isCompleted();
    }

    /** Without calls, nothing else would find another connection. Calls are not kept from using the present one meanwhile. */
    @Test
    void serverThatAnswersNoCheckGetsAnotherConnectionWithEachCheck() {
        servers.silence("beta");
        redis.check();
        servers.probes().clear();
        thread.pass(SECOND);
        assertThat(servers.disconnected()).containsExactly("beta");
        redis.check();
        thread.pass(SECOND);
        assertThat(servers.disconnected()).containsExactly("beta", "beta");
        assertThat(servers.renewed()).isEmpty();
        servers.heal("beta");
        assertThat(redis.check()).isCompleted();
        thread.pass(SECOND);
        assertThat(servers.disconnected()).hasSize(2);
        assertThat(thread.isIdle()).isTrue();
    }

    @Test
    void connectionByWhichACallWasAnsweredDuringTheCheckStays() {
        CompletableFuture<List<Long>> late = new CompletableFuture<>();
        servers.answer("beta", () -> late);
        CompletableFuture<Void> check = redis.check();
        thread.pass(SECOND);
        servers.heal("beta");
        assertThat(ask("beta")).isCompleted();
        servers.silence("beta");
        late.completeExceptionally(new TimeoutException());
        assertThat(reasonOf(check)).isEqualTo(Reason.TIMEOUT);
        thread.pass(SECOND);
        assertThat(servers.disconnected()).isEmpty();
    }

    /** As a server that no check has asked. */
    @Test
    void callThatFailsOpensTheCircuitBreakerOfACheckedServer() {
        servers.silence("beta");
        redis.check();
        thread.pass(SECOND);
        assertThat(reasonOf(ask("beta"))).isEqualTo(Reason.TIMEOUT);
        assertThat(reasonOf(ask("beta"))).isEqualTo(Reason.SHORT_CIRCUITED);
        thread.pass(SECOND);
        assertThat(servers.renewed()).isNotEmpty().containsOnly("beta");
        servers.heal("beta");
        thread.pass(SECOND);
        assertThat(ask("beta")).isCompleted();
        assertThat(thread.isIdle()).isTrue();
    }

    /** The server has answered: the value at the key of the probe concerns no call. */
    @Test
    void foreignValueOfTheProbeIsNoReasonToReconnect() {
        servers.fail("beta", new IllegalStateException("WRONGTYPE of the key"));
        assertThat(reasonOf(redis.check())).isEqualTo(Reason.FOREIGN_VALUE);
        thread.pass(SECOND);
        assertThat(servers.disconnected()).isEmpty();
        assertThat(thread.isIdle()).isTrue();
    }

    @Test
    void afterTheEndNoCheckStartsProbes() {
        redis.stop();
        servers.silence("beta");
        assertThat(reasonOf(redis.check())).isEqualTo(Reason.CLOSED);
        servers.probes().clear();
        thread.pass(SECOND);
        assertThat(servers.probes()).isEmpty();
    }

    @Test
    void checkSendsNothingToASilentServer() {
        servers.silence("beta");
        ask("beta");
        assertThat(reasonOf(redis.check())).isEqualTo(Reason.SHORT_CIRCUITED);
        assertThat(servers.probes()).containsExactly("alpha");
    }

    @Test
    void warmUpDoesNotMindFailures() {
        servers.silence("alpha");
        redis.warmUp(SECOND);
        assertThat(servers.probes()).containsExactly("alpha", "beta");
    }

    @Test
    void warmUpNeverOpensTheCircuitBreaker() {
        servers.silence("alpha");
        for (int i = 0; i < 100; i++) {
            redis.warmUp(SECOND);
        }
        servers.heal("alpha");
        assertThat(ask("alpha")).isCompleted();
        assertThat(thread.isIdle()).isTrue();
    }

    /** Calls use the same connections, and know of failures by circuit breakers of their own. */
    @Test
    void warmUpNeverReplacesAConnection() {
        GuardedRedis warmUp = new GuardedRedis(servers, Duration.ofHours(1), "test", false, thread, thread::nanos);
        servers.silence("alpha");
        servers.silence("beta");
        warmUp.execute(ScriptedServers.keys("alpha"), NOTHING, warmUp.deadline());
        warmUp.check();
        thread.pass(SECOND);
        assertThat(servers.probes()).contains("alpha", "beta");
        assertThat(servers.renewed()).isEmpty();
        assertThat(servers.disconnected()).isEmpty();
        warmUp.destroy();
    }

    /** A call that asks for both finds out, and asks for each; the server is well. */
    @Test
    void keysThatPartDoNotOpen() {
        moveForTimes(100);
        for (int i = 0; i < 100; i++) {
            assertThat(RedisFailureMapper.areKeysApart(failureOf(ask("{alpha}:1", "{alpha}:2"))))
                    .isTrue();
        }
        assertThat(ask("{alpha}:1", "{alpha}:2")).isCompleted();
        assertThat(servers.calls()).hasSize(101);
    }

    @Test
    void nothingIsSentAfterTheDeadline() {
        CompletableFuture<List<Long>> call =
                redis.execute(ScriptedServers.keys("alpha"), NOTHING, Deadlines.in(Duration.ZERO));
        assertThat(reasonOf(call)).isEqualTo(Reason.TIMEOUT);
        assertThat(servers.calls()).isEmpty();
        assertThat(ask("alpha")).isCompleted();
    }

    @Test
    void backgroundWorkNeverCountsTowardsTheBreaker() {
        servers.silence("alpha");
        for (int i = 0; i < 100; i++) {
            assertThat(reasonOf(askInBackground("alpha"))).isEqualTo(Reason.TIMEOUT);
        }
        servers.heal("alpha");
        assertThat(ask("alpha")).isCompleted();
        assertThat(servers.calls()).hasSize(101);
    }

    /** A hundred answers in the background say nothing about the calls that fail. */
    @Test
    void backgroundWorkThatIsAnsweredHidesNoFailure() {
        IntStream.range(0, 100).forEach(i -> askInBackground("alpha"));
        servers.fail("alpha", new IllegalStateException("ERR no"));
        IntStream.range(0, 10).forEach(i -> ask("alpha"));
        assertThat(reasonOf(ask("alpha"))).isEqualTo(Reason.SHORT_CIRCUITED);
    }

    @Test
    void backgroundWorkIsNotSentWhileTheBreakerIsOpen() {
        servers.silence("alpha");
        ask("alpha");
        assertThat(reasonOf(askInBackground("alpha"))).isEqualTo(Reason.SHORT_CIRCUITED);
        assertThat(servers.calls()).containsExactly("alpha");
        assertThat(askInBackground("beta")).isCompleted();
    }

    @Test
    void afterTheEndNobodyIsProbed() {
        servers.silence("alpha");
        ask("alpha");
        redis.destroy();
        thread.pass(SECOND);
        servers.silence("beta");
        assertThat(reasonOf(ask("beta"))).isEqualTo(Reason.CLOSED);
        assertThat(reasonOf(ask("alpha"))).isEqualTo(Reason.SHORT_CIRCUITED);
        assertThat(servers.probes()).hasSizeLessThanOrEqualTo(1);
        assertThat(thread.isShutdown()).isTrue();
    }

    @Test
    void failuresBetweenTheStopAndTheNextStartAreTheEnd() {
        redis.stop();
        servers.fail("alpha", new IllegalStateException("Connection closed"));
        assertThat(reasonOf(ask("alpha"))).isEqualTo(Reason.CLOSED);
        assertThat(ask("beta")).isCompleted();
        redis.start();
        assertThat(reasonOf(ask("alpha"))).isEqualTo(Reason.UNREACHABLE);
    }

    @Test
    void serversThatCannotBeFoundAreAFailureOfTheStore() {
        GuardedRedis closed = TestStores.guarded(new ClosedServers(), Duration.ofHours(1), "test");
        assertThat(reasonOf(closed.execute(ScriptedServers.keys("key"), NOTHING, closed.deadline())))
                .isEqualTo(Reason.CLOSED);
        assertThat(reasonOf(closed.check())).isEqualTo(Reason.CLOSED);
        closed.warmUp(SECOND);
    }

    private void moveForTimes(int times) {
        int[] left = {times};
        servers.answer(
                "alpha",
                () -> left[0]-- > 0
                        ? CompletableFuture.failedFuture(
                                new IllegalStateException("TRYAGAIN Multiple keys request during rehashing of slot"))
                        : CompletableFuture.completedFuture(List.of()));
    }

    private CompletableFuture<List<Long>> ask(String... keys) {
        return redis.execute(ScriptedServers.keys(keys), NOTHING, redis.deadline());
    }

    private CompletableFuture<List<Long>> askInBackground(String key) {
        return redis.executeInBackground(ScriptedServers.keys(key), NOTHING, redis.deadline());
    }

    private static Reason reasonOf(CompletableFuture<?> call) {
        return failureOf(call).getReason();
    }

    private static RateLimitStoreException failureOf(CompletableFuture<?> call) {
        return (RateLimitStoreException)
                catchThrowableOfType(CompletionException.class, call::join).getCause();
    }
}
