package io.ratelimit.redis.door;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.lettuce.core.RedisException;
import io.ratelimit.RateLimitStoreException;
import io.ratelimit.RateLimitStoreException.Reason;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What makes a server one that is not asked, and what ends that. No time passes but what a test lets pass. */
@SuppressWarnings("FutureReturnValueIgnored") // What is sent counts, or what becomes of others.
class ServerCircuitBreakerTests {

    private static final Duration TIMEOUT = Duration.ofMillis(100);

    private final AtomicLong nanos = new AtomicLong();

    private final List<ServerCircuitBreaker> opened = new ArrayList<>();

    private boolean closing;

    private final ServerCircuitBreaker server =
            new ServerCircuitBreaker("Redis", TIMEOUT, nanos::get, nanos::get, this::failure, opened::add);

    private final AtomicInteger sent = new AtomicInteger();

    @Test
    void silenceOpensAtOnce() {
        CompletableFuture<String> answer = new CompletableFuture<>();
        CompletableFuture<String> caller = ask(answer);
        pass(100);
        answer.completeExceptionally(new TimeoutException());
        assertThat(reasonOf(caller)).isEqualTo(Reason.TIMEOUT);
        assertThat(server.isOpen()).isTrue();
        assertThat(opened).containsExactly(server);
    }

    @Test
    void whoIsNotAskedSaysWhyAndNothingIsSent() {
        CompletableFuture<String> first = silence();
        CompletableFuture<String> second = ask(CompletableFuture.completedFuture("never"));
        assertThat(sent).hasValue(1);
        RateLimitStoreException failure = failureOf(second);
        assertThat(failure.getReason()).isEqualTo(Reason.SHORT_CIRCUITED);
        assertThat(failure).hasCause(failureOf(first));
    }

    @Test
    void timeoutOfOneWhileAnotherIsAnsweredDoesNotOpen() {
        CompletableFuture<String> slow = new CompletableFuture<>();
        CompletableFuture<String> caller = ask(slow);
        pass(50);
        assertThat(answered().join()).isEqualTo("answer");
        pass(50);
        slow.completeExceptionally(new TimeoutException());
        assertThat(reasonOf(caller)).isEqualTo(Reason.TIMEOUT);
        assertThat(server.isOpen()).isFalse();
        assertThat(opened).isEmpty();
    }

    /** It says that the server was well before, not that it is. */
    @Test
    void answerBeforeTheCallIsNoExcuseForSilence() {
        answered();
        pass(1);
        silence();
        assertThat(server.isOpen()).isTrue();
    }

    @Test
    void failuresOfSomeCallsOpenOnlyOnceTheyAreHalfOfTwenty() {
        IntStream.range(0, 10).forEach(i -> answered());
        IntStream.range(0, 9).forEach(i -> failed("ERR something"));
        answered();
        assertThat(server.isOpen()).isFalse();
        failed("ERR something");
        assertThat(server.isOpen()).isTrue();
        assertThat(reasonOf(answered())).isEqualTo(Reason.SHORT_CIRCUITED);
        assertThat(sent).hasValue(21);
    }

    @Test
    void fewFailuresAtFirstDoNotOpen() {
        IntStream.range(0, 9).forEach(i -> failed("ERR something"));
        assertThat(server.isOpen()).isFalse();
        failed("ERR something");
        assertThat(server.isOpen()).isTrue();
    }

    /** However few calls there are: so it is found out soon what became of the server. */
    @ParameterizedTest
    @ValueSource(strings = {"READONLY", "OOM", "NOAUTH", "NOPERM", "BUSY", "LOADING", "CLUSTERDOWN"})
    void whatConcernsAllOpensAtOnce(String reply) {
        answered();
        pass(1);
        failed(reply + " for everybody");
        assertThat(server.isOpen()).isTrue();
    }

    @Test
    void whatSeemsToConcernAllDoesNotOpenWhileOthersAreAnswered() {
        CompletableFuture<String> unlucky = new CompletableFuture<>();
        ask(unlucky);
        pass(1);
        answered();
        unlucky.completeExceptionally(new IllegalStateException("OOM for me"));
        assertThat(server.isOpen()).isFalse();
    }

    @Test
    void foreignValuesNeverOpen() {
        IntStream.range(0, 100).forEach(i -> foreign());
        assertThat(server.isOpen()).isFalse();
        assertThat(sent).hasValue(100);
    }

    @Test
    void foreignValueIsAnAnswer() {
        CompletableFuture<String> silent = new CompletableFuture<>();
        ask(silent);
        pass(1);
        foreign();
        pass(99);
        silent.completeExceptionally(new TimeoutException());
        assertThat(server.isOpen()).isFalse();
    }

    @ParameterizedTest
    @CsvSource({"79, false", "81, true"})
    void slowAnswersOpenOnceTheyAreHalf(int millis, boolean open) {
        IntStream.range(0, 10).forEach(i -> answered());
        IntStream.range(0, 10).forEach(i -> answeredAfter(millis));
        assertThat(server.isOpen()).isEqualTo(open);
    }

    @Test
    void probeThatIsAnsweredCloses() {
        silence();
        assertThat(server.probe(() -> CompletableFuture.completedFuture("well")).by(deadline()))
                .isCompletedWithValue("well");
        assertThat(server.isOpen()).isFalse();
        assertThat(answered().join()).isEqualTo("answer");
    }

    @ParameterizedTest
    @ValueSource(ints = {81, 100_000})
    void probeThatIsAnsweredSlowlyDoesNotClose(int millis) {
        silence();
        CompletableFuture<String> answer = new CompletableFuture<>();
        server.probe(() -> answer).by(deadline());
        pass(millis);
        answer.complete("at last");
        assertThat(server.isOpen()).isTrue();
    }

    @Test
    void probeThatFailsDoesNotClose() {
        silence();
        server.probe(() -> CompletableFuture.failedFuture(new IllegalStateException("OOM")))
                .by(deadline());
        assertThat(server.isOpen()).isTrue();
        server.probe(() -> {
                    throw new IllegalStateException("not even sent");
                })
                .by(deadline());
        assertThat(server.isOpen()).isTrue();
        server.probe(() -> CompletableFuture.completedFuture("well")).by(deadline());
        assertThat(server.isOpen()).isFalse();
    }

    /** A probe is on its way, and no call waits for it. */
    @Test
    void nothingElseIsSentDuringAProbe() {
        silence();
        CompletableFuture<String> answer = new CompletableFuture<>();
        server.probe(() -> answer).by(deadline());
        assertThat(reasonOf(answered())).isEqualTo(Reason.SHORT_CIRCUITED);
        assertThat(sent).hasValue(1);
        answer.complete("well");
        assertThat(answered()).isCompletedWithValue("answer");
    }

    @Test
    void reasonIsTheLatest() {
        silence();
        server.probe(() -> CompletableFuture.failedFuture(new IllegalStateException("READONLY")))
                .by(deadline());
        assertThat(failureOf(answered()).getCause())
                .isInstanceOfSatisfying(
                        RateLimitStoreException.class,
                        known -> assertThat(known.getReason()).isEqualTo(Reason.READ_ONLY));
    }

    @Test
    void commandThatCannotEvenBeSentIsAFailureOfTheStore() {
        CompletableFuture<?> caller = server.call(() -> {
                    throw new IllegalStateException("LettuceConnectionFactory is STOPPING");
                })
                .by(deadline());
        assertThat(reasonOf(caller)).isEqualTo(Reason.CLOSED);
    }

    @Test
    void whatFailsWhileAllIsBeingClosedIsTheEndAndDoesNotOpen() {
        CompletableFuture<String> underWay = new CompletableFuture<>();
        CompletableFuture<String> caller = ask(underWay);
        closing = true;
        underWay.completeExceptionally(new RedisException("Connection closed"));
        assertThat(reasonOf(caller)).isEqualTo(Reason.CLOSED);
        IntStream.range(0, 20)
                .forEach(i -> assertThat(reasonOf(ask(CompletableFuture.failedFuture(new TimeoutException()))))
                        .isEqualTo(Reason.CLOSED));
        assertThat(server.isOpen()).isFalse();
        assertThat(answered()).isCompletedWithValue("answer");
    }

    @Test
    void endOfTheConnectionsDoesNotOpen() {
        IntStream.range(0, 20)
                .forEach(i -> ask(CompletableFuture.failedFuture(
                        new IllegalStateException("LettuceConnectionFactory is STOPPING"))));
        assertThat(server.isOpen()).isFalse();
    }

    @Test
    void probeAtTheEndOfTheConnectionsDoesNotCloseAndIsNotTheLast() {
        silence();
        server.probe(() -> CompletableFuture.failedFuture(new IllegalStateException("STOPPED")))
                .by(deadline());
        assertThat(server.isOpen()).isTrue();
        server.probe(() -> CompletableFuture.completedFuture("well")).by(deadline());
        assertThat(server.isOpen()).isFalse();
    }

    /** The failure is of a call from before; the probe is the newer evidence. */
    @Test
    void lateFailureDoesNotOpenAgainWhatAProbeHasClosed() {
        CompletableFuture<String> late = new CompletableFuture<>();
        ask(late);
        silence();
        closeByProbe();
        late.completeExceptionally(new TimeoutException());
        assertThat(server.isOpen()).isFalse();
        assertThat(opened).hasSize(1);
    }

    /** The clock is read in the middle of it: there the probe ends. */
    @Test
    void openBreakerIsAlwaysProbedHoweverAFailureAndAProbeMeet() {
        AtomicInteger closes = new AtomicInteger();
        AtomicBoolean armed = new AtomicBoolean();
        CompletableFuture<String> probe = new CompletableFuture<>();
        ServerCircuitBreaker racing = new ServerCircuitBreaker(
                "Redis",
                TIMEOUT,
                nanos::get,
                () -> {
                    if (armed.compareAndSet(true, false)) {
                        probe.complete("well");
                        closes.incrementAndGet();
                    }
                    return nanos.get();
                },
                ServerCircuitBreakerTests::of,
                opened::add);
        CompletableFuture<String> late = new CompletableFuture<>();
        racing.call(() -> late).by(deadline());
        racing.call(() -> CompletableFuture.failedFuture(new TimeoutException()))
                .by(deadline());
        racing.probe(() -> probe).by(deadline());
        armed.set(true);
        late.completeExceptionally(new TimeoutException());
        assertThat(closes).hasValue(1);
        assertThat(racing.isOpen()).isEqualTo(opened.size() > closes.get());
    }

    @Test
    void callsFromBeforeARecoveryAreNotCountedAfterIt() {
        List<CompletableFuture<String>> late =
                Stream.generate(CompletableFuture<String>::new).limit(20).toList();
        late.forEach(this::ask);
        silence();
        closeByProbe();
        late.forEach(answer -> answer.completeExceptionally(new IllegalStateException("ERR something")));
        assertThat(server.isOpen()).isFalse();
        assertThat(answered()).isCompletedWithValue("answer");
    }

    @Test
    void oneProbeAtATime() {
        silence();
        CompletableFuture<String> first = new CompletableFuture<>();
        server.probe(() -> first).by(deadline());
        assertThat(reasonOf(server.probe(() -> CompletableFuture.completedFuture("well"))
                        .by(deadline())))
                .isEqualTo(Reason.SHORT_CIRCUITED);
        assertThat(server.isOpen()).isTrue();
    }

    /** Its completion was dropped, or its thread has died. */
    @Test
    void probeWithoutAnEndIsReplacedAndNoLongerCounts() {
        silence();
        CompletableFuture<String> lost = new CompletableFuture<>();
        server.probe(() -> lost).by(deadline());
        pass(1_101);
        assertThat(server.isProbed()).isFalse();
        CompletableFuture<String> second = new CompletableFuture<>();
        server.probe(() -> second).by(deadline());
        lost.complete("well");
        assertThat(server.isOpen()).isTrue();
        second.complete("well");
        assertThat(server.isOpen()).isFalse();
    }

    @Test
    void errorOfACommandIsAFailureOfTheStore() {
        CompletableFuture<?> caller = server.call(() -> {
                    throw new NoSuchMethodError("evalsha");
                })
                .by(deadline());
        assertThat(reasonOf(caller)).isEqualTo(Reason.ERROR);
        silence();
        server.probe(() -> {
                    throw new NoSuchMethodError("evalsha");
                })
                .by(deadline());
        closeByProbe();
        assertThat(server.isOpen()).isFalse();
    }

    /** A thread cannot be created, for example. The caller has nothing to do with that. */
    @Test
    void errorAtTheStartOfTheProbesIsNoneOfTheCallersAndTheyAreStartedAgainLater() {
        AtomicInteger starts = new AtomicInteger();
        ServerCircuitBreaker broken = new ServerCircuitBreaker(
                "Redis", TIMEOUT, nanos::get, nanos::get, ServerCircuitBreakerTests::of, open -> {
                    starts.incrementAndGet();
                    throw new OutOfMemoryError("unable to create native thread");
                });
        assertThat(reasonOf(broken.call(() -> CompletableFuture.failedFuture(new TimeoutException()))
                        .by(deadline())))
                .isEqualTo(Reason.TIMEOUT);
        for (int millis = 0; millis < 3_300; millis++) {
            assertThat(reasonOf(broken.call(CompletableFuture::new).by(deadline())))
                    .isEqualTo(Reason.SHORT_CIRCUITED);
            pass(1);
        }
        assertThat(starts).hasValue(1 + 2);
        pass(1);
        broken.call(CompletableFuture::new).by(deadline());
        assertThat(starts).hasValue(1 + 3);
    }

    /** As of one whose timer has no thread. */
    @Test
    void clockOfAnswersThatStandsStillKeepsNoServerWithoutAProbe() {
        ServerCircuitBreaker frozen = new ServerCircuitBreaker(
                "Redis", TIMEOUT, nanos::get, () -> 0, ServerCircuitBreakerTests::of, opened::add);
        frozen.call(() -> CompletableFuture.failedFuture(new TimeoutException()))
                .by(deadline());
        pass(1_100);
        frozen.callInBackground(CompletableFuture::new).by(deadline());
        assertThat(opened).hasSize(2);
        frozen.probe(CompletableFuture::new).by(deadline());
        pass(1_101);
        assertThat(frozen.isProbed()).isFalse();
    }

    @Test
    void probesThatComeAreNotStartedAgain() {
        silence();
        for (int i = 0; i < 100; i++) {
            server.probe(() -> CompletableFuture.failedFuture(new TimeoutException()))
                    .by(deadline());
            pass(1_000);
            answered();
        }
        assertThat(opened).hasSize(1);
    }

    @Test
    void uncountedCallsNeitherOpenNorExcuse() {
        CompletableFuture<String> silent = new CompletableFuture<>();
        ask(silent);
        pass(50);
        IntStream.range(0, 100)
                .forEach(i -> server.callInBackground(() -> CompletableFuture.failedFuture(new TimeoutException()))
                        .by(deadline()));
        server.callInBackground(() -> CompletableFuture.completedFuture("answer"))
                .by(deadline());
        assertThat(server.isOpen()).isFalse();
        pass(50);
        silent.completeExceptionally(new TimeoutException());
        assertThat(server.isOpen()).isTrue();
        assertThat(reasonOf(server.callInBackground(() -> CompletableFuture.completedFuture("answer"))
                        .by(deadline())))
                .isEqualTo(Reason.SHORT_CIRCUITED);
    }

    @Test
    void slownessIsAReasonOfItsOwn() {
        IntStream.range(0, 10).forEach(i -> answeredAfter(81));
        assertThat(failureOf(answered())).hasMessage("Redis: circuit breaker open (Redis: answers too slowly)");
    }

    private void closeByProbe() {
        server.probe(() -> CompletableFuture.completedFuture("well")).by(deadline());
        assertThat(server.isOpen()).isFalse();
    }

    private CompletableFuture<String> silence() {
        CompletableFuture<String> answer = new CompletableFuture<>();
        CompletableFuture<String> caller = ask(answer);
        pass(100);
        answer.completeExceptionally(new TimeoutException());
        return caller;
    }

    private CompletableFuture<String> answered() {
        return ask(CompletableFuture.completedFuture("answer"));
    }

    private void foreign() {
        ask(CompletableFuture.failedFuture(new IllegalStateException("WRONGTYPE Operation against a key")));
    }

    private void answeredAfter(int millis) {
        CompletableFuture<String> answer = new CompletableFuture<>();
        ask(answer);
        pass(millis);
        answer.complete("answer");
    }

    private void failed(String reply) {
        ask(CompletableFuture.failedFuture(new IllegalStateException(reply)));
    }

    private CompletableFuture<String> ask(CompletableFuture<String> answer) {
        return server.call(() -> {
                    sent.incrementAndGet();
                    return answer;
                })
                .by(deadline());
    }

    private RateLimitStoreException failure(Throwable thrown) {
        RateLimitStoreException failure = of(thrown);
        return closing ? new RateLimitStoreException(Reason.CLOSED, "closed", failure) : failure;
    }

    private static RateLimitStoreException of(Throwable thrown) {
        return RedisFailureMapper.of("Redis", thrown);
    }

    private static Deadline deadline() {
        return Deadlines.in(Duration.ofHours(1));
    }

    private void pass(int millis) {
        nanos.addAndGet(Duration.ofMillis(millis).toNanos());
    }

    private static Reason reasonOf(CompletableFuture<?> call) {
        return failureOf(call).getReason();
    }

    private static RateLimitStoreException failureOf(CompletableFuture<?> call) {
        return (RateLimitStoreException)
                catchThrowableOfType(CompletionException.class, call::join).getCause();
    }
}
