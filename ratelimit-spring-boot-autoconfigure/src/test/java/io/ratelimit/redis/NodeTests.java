package io.ratelimit.redis;

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
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What makes a server one that is not asked, and what ends that. No time passes but what a test lets pass. */
@SuppressWarnings("FutureReturnValueIgnored") // What is sent counts, or what becomes of others.
class NodeTests {

    private static final Duration TIMEOUT = Duration.ofMillis(100);

    private final AtomicLong nanos = new AtomicLong();

    private final List<Node> opened = new ArrayList<>();

    private boolean closing;

    private final Node node = new Node("Redis", TIMEOUT, nanos::get, () -> closing, opened::add);

    private final AtomicInteger sent = new AtomicInteger();

    @Test
    void silenceOpensAtOnce() {
        CompletableFuture<String> answer = new CompletableFuture<>();
        CompletableFuture<String> caller = ask(answer);
        pass(100);
        answer.completeExceptionally(new TimeoutException());
        assertThat(reasonOf(caller)).isEqualTo(Reason.TIMEOUT);
        assertThat(node.isOpen()).isTrue();
        assertThat(opened).containsExactly(node);
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
        assertThat(node.isOpen()).isFalse();
        assertThat(opened).isEmpty();
    }

    /** It says that the server was well before, not that it is. */
    @Test
    void answerBeforeTheCallIsNoExcuseForSilence() {
        answered();
        pass(1);
        silence();
        assertThat(node.isOpen()).isTrue();
    }

    @Test
    void failuresOfSomeCallsOpenOnlyOnceTheyAreHalfOfTwenty() {
        IntStream.range(0, 10).forEach(i -> answered());
        IntStream.range(0, 9).forEach(i -> failed("ERR something"));
        answered();
        assertThat(node.isOpen()).isFalse();
        failed("ERR something");
        assertThat(node.isOpen()).isTrue();
        assertThat(reasonOf(answered())).isEqualTo(Reason.SHORT_CIRCUITED);
        assertThat(sent).hasValue(21);
    }

    @Test
    void fewFailuresAtFirstDoNotOpen() {
        IntStream.range(0, 9).forEach(i -> failed("ERR something"));
        assertThat(node.isOpen()).isFalse();
        failed("ERR something");
        assertThat(node.isOpen()).isTrue();
    }

    /** However few calls there are: so it is found out soon what became of the server. */
    @ParameterizedTest
    @ValueSource(strings = {"READONLY", "OOM", "NOAUTH", "NOPERM", "BUSY", "LOADING", "CLUSTERDOWN"})
    void whatConcernsAllOpensAtOnce(String reply) {
        answered();
        pass(1);
        failed(reply + " for everybody");
        assertThat(node.isOpen()).isTrue();
    }

    @Test
    void whatSeemsToConcernAllDoesNotOpenWhileOthersAreAnswered() {
        CompletableFuture<String> unlucky = new CompletableFuture<>();
        ask(unlucky);
        pass(1);
        answered();
        unlucky.completeExceptionally(new IllegalStateException("OOM for me"));
        assertThat(node.isOpen()).isFalse();
    }

    @Test
    void foreignValuesNeverOpen() {
        IntStream.range(0, 100).forEach(i -> foreign());
        assertThat(node.isOpen()).isFalse();
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
        assertThat(node.isOpen()).isFalse();
    }

    @ParameterizedTest
    @CsvSource({"79, false", "81, true"})
    void slowAnswersOpenOnceTheyAreHalf(int millis, boolean open) {
        IntStream.range(0, 10).forEach(i -> answered());
        IntStream.range(0, 10).forEach(i -> answeredAfter(millis));
        assertThat(node.isOpen()).isEqualTo(open);
    }

    @Test
    void probeThatIsAnsweredCloses() {
        silence();
        assertThat(node.probe(() -> CompletableFuture.completedFuture("well"), deadline()))
                .isCompletedWithValue("well");
        assertThat(node.isOpen()).isFalse();
        assertThat(answered().join()).isEqualTo("answer");
    }

    @ParameterizedTest
    @ValueSource(ints = {81, 100_000})
    void probeThatIsAnsweredSlowlyDoesNotClose(int millis) {
        silence();
        CompletableFuture<String> answer = new CompletableFuture<>();
        node.probe(() -> answer, deadline());
        pass(millis);
        answer.complete("at last");
        assertThat(node.isOpen()).isTrue();
    }

    @Test
    void probeThatFailsDoesNotClose() {
        silence();
        node.probe(() -> CompletableFuture.failedFuture(new IllegalStateException("OOM")), deadline());
        assertThat(node.isOpen()).isTrue();
        node.probe(
                () -> {
                    throw new IllegalStateException("not even sent");
                },
                deadline());
        assertThat(node.isOpen()).isTrue();
        node.probe(() -> CompletableFuture.completedFuture("well"), deadline());
        assertThat(node.isOpen()).isFalse();
    }

    /** A probe is on its way, and is nobody's. */
    @Test
    void nothingElseIsSentDuringAProbe() {
        silence();
        CompletableFuture<String> answer = new CompletableFuture<>();
        node.probe(() -> answer, deadline());
        assertThat(reasonOf(answered())).isEqualTo(Reason.SHORT_CIRCUITED);
        assertThat(sent).hasValue(1);
        answer.complete("well");
        assertThat(answered()).isCompletedWithValue("answer");
    }

    @Test
    void reasonIsTheLatest() {
        silence();
        node.probe(() -> CompletableFuture.failedFuture(new IllegalStateException("READONLY")), deadline());
        assertThat(failureOf(answered()).getCause())
                .isInstanceOfSatisfying(
                        RateLimitStoreException.class,
                        known -> assertThat(known.getReason()).isEqualTo(Reason.READ_ONLY));
    }

    @Test
    void commandThatCannotEvenBeSentIsAFailureOfTheStore() {
        CompletableFuture<String> caller = node.ask(
                () -> {
                    throw new IllegalStateException("LettuceConnectionFactory is STOPPING");
                },
                deadline());
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
        assertThat(node.isOpen()).isFalse();
        assertThat(answered()).isCompletedWithValue("answer");
    }

    @Test
    void endOfTheConnectionsDoesNotOpen() {
        IntStream.range(0, 20)
                .forEach(i -> ask(CompletableFuture.failedFuture(
                        new IllegalStateException("LettuceConnectionFactory is STOPPING"))));
        assertThat(node.isOpen()).isFalse();
    }

    @Test
    void probeAtTheEndOfTheConnectionsDoesNotCloseAndIsNotTheLast() {
        silence();
        node.probe(() -> CompletableFuture.failedFuture(new IllegalStateException("STOPPED")), deadline());
        assertThat(node.isOpen()).isTrue();
        node.probe(() -> CompletableFuture.completedFuture("well"), deadline());
        assertThat(node.isOpen()).isFalse();
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
        return node.ask(
                () -> {
                    sent.incrementAndGet();
                    return answer;
                },
                deadline());
    }

    private static Deadline deadline() {
        return Deadline.in(Duration.ofHours(1));
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
