package io.ratelimit.redis.door;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import io.ratelimit.internal.concurrent.DaemonThreads;
import io.ratelimit.redis.HandTurnedThread;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeoutException;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** When servers that do not answer are asked. */
@SuppressWarnings("FutureReturnValueIgnored") // What is sent counts, or what becomes of others.
class RecoveryProbesTests {

    private static final Duration SECOND = Duration.ofSeconds(1);

    private static final Duration MOMENT = Duration.ofMillis(10);

    private static final int A_SECOND = 8;

    private final HandTurnedThread thread = new HandTurnedThread();

    private final List<String> probed = new ArrayList<>();

    private final List<Long> renewed = new ArrayList<>();

    private final Map<String, CompletableFuture<String>> held = new HashMap<>();

    private final Map<String, Boolean> broken = new HashMap<>();

    private Error error;

    private final RecoveryProbes probes = new RecoveryProbes(this::probe, this::renew, thread, thread::nanos);

    private void probe(ServerCircuitBreaker server) {
        probed.add(server.name());
        if (error != null) {
            throw error;
        }
        if (broken.containsKey(server.name())) {
            throw new IllegalStateException("cannot be asked");
        }
        server.probe(() -> held.getOrDefault(server.name(), CompletableFuture.failedFuture(new TimeoutException())))
                .by(Deadlines.in(Duration.ofHours(1)));
    }

    private void renew(ServerCircuitBreaker server) {
        renewed.add(Duration.ofNanos(thread.nanos()).toMillis());
        if (error != null) {
            throw error;
        }
        throw new IllegalStateException("no connection to " + server.name());
    }

    @AfterEach
    void stop() {
        probes.stop();
    }

    @Test
    void firstProbeComesAtOnceAndTheNextOneLater() {
        probes.start(silent("a"));
        thread.turn();
        assertThat(probed).containsExactly("a");
        thread.pass(MOMENT);
        assertThat(probed).hasSize(1);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 5, 100})
    void thereAreEightASecondHoweverManyAreSilent(int servers) {
        IntStream.range(0, servers).forEach(i -> probes.start(silent("server" + i)));
        thread.turn();
        assertThat(probed).hasSize(1);
        for (int second = 1; second <= 10; second++) {
            thread.pass(SECOND);
            assertThat(probed).hasSize(1 + second * A_SECOND);
        }
    }

    @Test
    void oneServerAfterTheOther() {
        List.of("a", "b", "c").forEach(name -> probes.start(silent(name)));
        thread.pass(SECOND);
        assertThat(probed).containsExactly("a", "b", "c", "a", "b", "c", "a", "b", "c");
    }

    /** However often it is said that it is silent. */
    @Test
    void serverIsInTheRowOnce() {
        ServerCircuitBreaker a = silent("a");
        probes.start(a);
        probes.start(silent("b"));
        thread.turn();
        probes.start(a);
        thread.pass(SECOND);
        assertThat(probed).startsWith("a", "b", "a", "b", "a", "b");
    }

    @Test
    void serverIsAskedAgainOnlyAfterItsProbe() {
        CompletableFuture<String> probe = new CompletableFuture<>();
        held.put("a", probe);
        probes.start(silent("a"));
        thread.pass(SECOND);
        assertThat(probed).containsExactly("a");
        probe.completeExceptionally(new TimeoutException());
        held.put("a", new CompletableFuture<>());
        thread.pass(SECOND);
        assertThat(probed).containsExactly("a", "a");
    }

    @Test
    void serverThatAnswersIsNotAsked() {
        ServerCircuitBreaker a = silent("a");
        probes.start(a);
        thread.pass(SECOND);
        a.retire();
        int before = probed.size();
        thread.pass(SECOND);
        assertThat(probed).hasSizeLessThanOrEqualTo(before + 1);
        assertThat(thread.isIdle()).isTrue();
    }

    /** The pause between two probes holds all the same. */
    @Test
    void serverThatFallsSilentAgainIsAskedAgainAndNotSooner() {
        ServerCircuitBreaker a = silent("a");
        probes.start(a);
        a.retire();
        thread.turn();
        fallSilent(a);
        probes.start(a);
        thread.pass(MOMENT);
        assertThat(probed).hasSize(1);
        thread.pass(SECOND);
        assertThat(probed).hasSize(1 + A_SECOND);
    }

    @Test
    void connectionOfOneThatStaysSilentIsRenewedAfterHalfASecondAndAgain() {
        probes.start(silent("a"));
        thread.pass(Duration.ofMillis(499));
        assertThat(renewed).isEmpty();
        thread.pass(Duration.ofMillis(1));
        assertThat(renewed).containsExactly(500L);
        thread.pass(Duration.ofMillis(499));
        assertThat(renewed).hasSize(1);
        thread.pass(Duration.ofMillis(1));
        assertThat(renewed).containsExactly(500L, 1_000L);
    }

    /** The renewal of this test always does. */
    @Test
    void renewalThatFailsDoesNoHarm() {
        probes.start(silent("a"));
        thread.pass(SECOND);
        assertThat(renewed).isNotEmpty();
        assertThat(probed).hasSize(1 + A_SECOND);
    }

    @Test
    void patienceBeginsAnewWithEachSilence() {
        ServerCircuitBreaker a = silent("a");
        probes.start(a);
        thread.pass(Duration.ofMillis(400));
        a.retire();
        thread.pass(SECOND);
        fallSilent(a);
        probes.start(a);
        thread.pass(Duration.ofMillis(400));
        assertThat(renewed).isEmpty();
    }

    @Test
    void serverThatCannotEvenBeAskedIsAskedAgain() {
        broken.put("a", true);
        probes.start(silent("a"));
        thread.pass(SECOND);
        assertThat(probed).hasSize(1 + A_SECOND);
    }

    @Test
    void errorOfAProbeOrARenewalEndsNothing() {
        error = new NoSuchMethodError("resetConnection");
        probes.start(silent("a"));
        probes.start(silent("b"));
        thread.pass(SECOND);
        assertThat(probed).hasSize(1 + A_SECOND).contains("a", "b");
        assertThat(renewed).isNotEmpty();
        error = null;
        held.put("a", CompletableFuture.completedFuture("well"));
        held.put("b", CompletableFuture.completedFuture("well"));
        thread.pass(SECOND);
        assertThat(thread.isIdle()).isTrue();
    }

    /** The server asks for its probes again, as long as none comes. */
    @Test
    void probesThatCannotBeScheduledAreStartedByTheNextStart() {
        ServerCircuitBreaker a = silent("a");
        thread.failToStart();
        assertThatExceptionOfType(OutOfMemoryError.class).isThrownBy(() -> probes.start(a));
        probes.start(a);
        thread.pass(SECOND);
        assertThat(probed).hasSize(1 + A_SECOND);
    }

    @Test
    void probeThatCannotBeScheduledIsScheduledByTheNextStart() {
        ServerCircuitBreaker a = silent("a");
        probes.start(a);
        thread.failToStart();
        assertThatExceptionOfType(OutOfMemoryError.class).isThrownBy(thread::turn);
        thread.forget();
        thread.pass(SECOND);
        assertThat(probed).isEmpty();
        probes.start(a);
        thread.pass(SECOND);
        assertThat(probed).hasSize(1 + A_SECOND);
    }

    /** A probe without an end holds up no other server: the others are probed, and it is replaced after a while. */
    @Test
    void probeWithoutAnEndHoldsUpNobody() {
        held.put("a", new CompletableFuture<>());
        probes.start(silent("a"));
        probes.start(silent("b"));
        thread.pass(SECOND);
        assertThat(probed).startsWith("a", "b", "b", "b");
        thread.pass(Duration.ofSeconds(2));
        assertThat(probed.stream().filter("a"::equals)).hasSize(2);
    }

    @Test
    void nothingIsDoneOnceStopped() {
        CompletableFuture<String> probe = new CompletableFuture<>();
        held.put("a", probe);
        probes.start(silent("a"));
        probes.start(silent("b"));
        thread.turn();
        probes.stop();
        probe.completeExceptionally(new TimeoutException());
        probes.start(silent("c"));
        thread.pass(SECOND);
        assertThat(probed).startsWith("a").doesNotContain("c").hasSizeLessThanOrEqualTo(2);
        assertThat(thread.isIdle()).isTrue();
    }

    /** A real one, with a server that stays silent. */
    @Test
    @Timeout(180)
    void threadEndsWithTheStop() {
        CompletableFuture<Thread> probing = new CompletableFuture<>();
        RecoveryProbes real = new RecoveryProbes(
                server -> probing.complete(Thread.currentThread()),
                server -> {},
                DaemonThreads.createScheduler("ratelimit-probe"),
                System::nanoTime);
        real.start(silent("a"));
        Thread ofProbes = probing.join();
        assertThat(ofProbes.isDaemon()).isTrue();
        real.stop();
        await().until(() -> !ofProbes.isAlive());
    }

    private ServerCircuitBreaker silent(String name) {
        ServerCircuitBreaker server = new ServerCircuitBreaker(
                name, SECOND, thread::nanos, thread::nanos, thrown -> RedisFailureMapper.of(name, thrown), open -> {});
        fallSilent(server);
        return server;
    }

    private void fallSilent(ServerCircuitBreaker server) {
        for (int i = 0; i < 20; i++) {
            server.call(() -> CompletableFuture.failedFuture(new IllegalStateException("OOM")))
                    .by(Deadlines.in(Duration.ofHours(1)));
        }
        assertThat(server.isOpen()).isTrue();
    }
}
