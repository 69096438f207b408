package io.ratelimit.internal.store.failover;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import io.ratelimit.OnStoreFailure;
import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitStoreException;
import io.ratelimit.RateLimitStoreException.Reason;
import io.ratelimit.event.RateLimitStoreFailureEvent;
import io.ratelimit.event.RateLimitStoreRecoveredEvent;
import io.ratelimit.internal.store.AlgorithmFailureException;
import io.ratelimit.spi.StoreFailure;
import io.ratelimit.testing.LogRecorder;
import io.ratelimit.testing.TestLimits;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class OutageTrackerTests {

    private final LogRecorder recorder = LogRecorder.ofThisThread("io.ratelimit.store");

    private long seconds;

    private @Nullable RateLimitStoreException found;

    private final List<Object> events = new ArrayList<>();

    private final OutageTracker log =
            new OutageTracker(this::check, () -> TimeUnit.SECONDS.toNanos(seconds), events::add, null);

    private final RateLimit limit = RateLimit.named("quotes").rate("1/s").build();

    private final RateLimitStoreException trouble =
            new RateLimitStoreException(RateLimitStoreException.Reason.ERROR, "down", null);

    private CompletionStage<?> check() {
        return found == null ? CompletableFuture.completedFuture(null) : CompletableFuture.failedFuture(found);
    }

    @AfterEach
    void stopListening() {
        recorder.close();
    }

    @Test
    void oneLineWhenItFailsAndOneWhenItIsBack() {
        log.success();
        for (int i = 0; i < 5; i++) {
            log.failureOfCall(List.of(limit), trouble);
        }
        seconds = 1;
        log.success();
        log.success();
        assertThat(recorder.levels()).containsExactly("WARNING", "INFO");
        assertThat(recorder.lines())
                .containsExactly(
                        "Rate limit store unavailable (error: down); applying on-store-failure=local to limit 'quotes'",
                        "Rate limit store available again (failures were seen for 0.0 s); calls decided by"
                                + " on-store-failure: 5");
    }

    @Test
    void oneEventWhenItFailsAndOneWhenItIsBack() {
        log.success();
        for (int i = 0; i < 5; i++) {
            log.failureOfCall(List.of(limit), trouble);
        }
        log.failureOfCall(List.of(limit), new RateLimitStoreException(Reason.BUSY, "busy", null));
        seconds = 1;
        log.success();
        log.success();
        assertThat(events)
                .satisfiesExactly(
                        failed -> assertThat(failed).isInstanceOfSatisfying(RateLimitStoreFailureEvent.class, event -> {
                            assertThat(event.reason()).isEqualTo(Reason.ERROR);
                            assertThat(event.message()).isEqualTo("down");
                        }),
                        back -> assertThat(back)
                                .isEqualTo(new RateLimitStoreRecoveredEvent(
                                        ((RateLimitStoreFailureEvent) events.get(0)).since(), 6)));
    }

    @Test
    void foreignValueOfABucketIsNoEvent() {
        log.failureOfCall(List.of(limit), new RateLimitStoreException(Reason.FOREIGN_VALUE, "foreign", null));
        seconds = 61;
        log.success();
        assertThat(recorder.lines()).hasSize(2);
        assertThat(events).isEmpty();
    }

    @Test
    void idleTimeIsNoPartOfTheOutage() {
        log.failureOfCall(List.of(limit), trouble);
        seconds = 2;
        log.failureOfCall(List.of(limit), trouble);
        seconds = 102;
        log.success();
        assertThat(recorder.lines().get(1)).contains("(failures were seen for 2.0 s)");
    }

    @Test
    void aSecondOutageIsLoggedAtOnce() {
        log.failureOfCall(List.of(limit), trouble);
        seconds = 1;
        log.success();
        log.failureOfCall(List.of(limit), trouble);
        seconds = 2;
        log.success();
        assertThat(recorder.levels()).containsExactly("WARNING", "INFO", "WARNING", "INFO");
    }

    @Test
    void failuresAmongSuccessesAreOneOutage() {
        for (int i = 0; i < 5; i++) {
            log.failureOfCall(List.of(limit), trouble);
            log.success();
        }
        assertThat(recorder.levels()).containsExactly("WARNING");
    }

    @Test
    void everyReasonIsLoggedOnce() {
        for (int i = 0; i < 3; i++) {
            log.failureOfCall(List.of(limit), trouble);
            log.failureOfCall(List.of(limit), new RateLimitStoreException(Reason.TIMEOUT, "hangs", null));
            seconds += 3_600;
        }
        assertThat(recorder.levels()).containsExactly("WARNING", "WARNING");
        assertThat(recorder.lines().get(1)).contains("hangs");
    }

    @Test
    void firstReasonStaysBesideTheLatest() {
        log.failureOfCall(List.of(limit), trouble);
        log.failureOfCall(List.of(limit), new RateLimitStoreException(Reason.BUSY, "busy", null));
        assertThat(log.failures()).singleElement().satisfies(known -> {
            assertThat(known.reason()).isEqualTo(Reason.ERROR);
            assertThat(known.message()).isEqualTo("down");
            assertThat(known.latest()).isEqualTo(new StoreFailure.Latest(Reason.BUSY, "busy"));
        });
        log.failureOfCall(List.of(limit), trouble);
        assertThat(log.failures()).singleElement().satisfies(known -> {
            assertThat(known.reason()).isEqualTo(Reason.ERROR);
            assertThat(known.latest()).isNull();
        });
        assertThat(recorder.levels()).hasSize(2);
    }

    @Test
    void whatACheckHasFoundBeforeIsTheFirstReason() {
        log.checked(null, new RateLimitStoreException(Reason.TIMEOUT, "hangs", null));
        Instant since = log.failures().get(0).since();
        log.failureOfCall(List.of(limit), trouble);
        log.failureOfCall(List.of(limit), new RateLimitStoreException(Reason.TIMEOUT, "hangs", null));
        log.failureOfCall(List.of(limit), trouble);
        assertThat(recorder.lines())
                .containsExactly(
                        "Rate limit store does not answer checks (timeout: hangs); no call has failed so far",
                        "Rate limit store unavailable (timeout: hangs; now error: down); applying"
                                + " on-store-failure=local to limit 'quotes'");
        assertThat(events).containsExactly(new RateLimitStoreFailureEvent(Reason.TIMEOUT, "hangs", since));
        assertThat(log.failures()).singleElement().satisfies(known -> {
            assertThat(known.since()).isEqualTo(since);
            assertThat(known.reason()).isEqualTo(Reason.TIMEOUT);
            assertThat(known.latest()).isEqualTo(new StoreFailure.Latest(Reason.ERROR, "down"));
            assertThat(known.calls()).isEqualTo(3);
        });
        seconds = 1;
        log.success();
        log.failureOfCall(List.of(limit), trouble);
        assertThat(log.failures()).singleElement().satisfies(known -> {
            assertThat(known.reason()).isEqualTo(Reason.ERROR);
            assertThat(known.latest()).isNull();
        });
    }

    @Test
    void everyPolicyIsLoggedOnceWithTheLimitsOfTheCall() {
        RateLimit login = TestLimits.failingBy(OnStoreFailure.REJECT, "login");
        for (int i = 0; i < 2; i++) {
            log.failureOfCall(List.of(limit), trouble);
            log.failureOfCall(List.of(limit, login), trouble);
            log.failureOfCall(List.of(login), trouble);
        }
        assertThat(recorder.levels()).containsExactly("WARNING", "WARNING");
        assertThat(recorder.lines().get(1))
                .endsWith("applying on-store-failure to limits 'quotes' (local), 'login' (reject)");
    }

    @Test
    void whyTheStoreIsNotAskedIsKnown() {
        log.failureOfCall(List.of(limit), trouble);
        log.failureOfCall(List.of(limit), new RateLimitStoreException(Reason.SHORT_CIRCUITED, "not asked", trouble));
        assertThat(recorder.levels()).containsExactly("WARNING");
        assertThat(log.failures()).singleElement().satisfies(known -> {
            assertThat(known.reason()).isEqualTo(Reason.ERROR);
            assertThat(known.message()).isEqualTo("down");
            assertThat(known.calls()).isEqualTo(2);
        });
    }

    @Test
    void itIsNotOverWhileAPartOfTheStoreFails() {
        log.failureOfCall(List.of(limit), trouble);
        seconds = 1;
        found = trouble;
        log.success();
        assertThat(recorder.levels()).containsExactly("WARNING");
        seconds = 2;
        found = null;
        log.success();
        assertThat(recorder.levels()).containsExactly("WARNING", "INFO");
        assertThat(log.failures()).isEmpty();
    }

    @Test
    void bucketThatIsNotOursIsNoOutageAndForgottenAfterAMinute() {
        log.failureOfCall(List.of(limit), new RateLimitStoreException(Reason.FOREIGN_VALUE, "foreign", null));
        log.failureOfCall(List.of(limit), trouble);
        assertThat(log.failures()).hasSize(2);
        seconds = 1;
        log.success();
        assertThat(log.failures())
                .singleElement()
                .satisfies(known -> assertThat(known.reason()).isEqualTo(Reason.FOREIGN_VALUE));
        seconds = 60;
        log.success();
        assertThat(log.failures()).isEmpty();
    }

    @Test
    void checkThatFailsIsNoOutageBeforeACallFails() {
        log.checked(null, trouble);
        log.checked(null, new RateLimitStoreException(Reason.TIMEOUT, "hangs", null));
        assertThat(recorder.lines())
                .containsExactly("Rate limit store does not answer checks (error: down); no call has failed so far");
        assertThat(recorder.levels()).containsExactly("INFO");
        assertThat(events).isEmpty();
        assertThat(log.isAvailable()).isFalse();
        assertThat(log.failures()).singleElement().satisfies(known -> {
            assertThat(known.reason()).isEqualTo(Reason.ERROR);
            assertThat(known.latest()).isEqualTo(new StoreFailure.Latest(Reason.TIMEOUT, "hangs"));
            assertThat(known.calls()).isZero();
        });
        log.failureOfCall(List.of(limit), trouble);
        assertThat(recorder.levels()).containsExactly("INFO", "WARNING");
        assertThat(log.failures())
                .singleElement()
                .satisfies(known -> assertThat(known.calls()).isEqualTo(1));
        seconds = 1;
        log.success();
        assertThat(recorder.levels()).containsExactly("INFO", "WARNING", "INFO");
        assertThat(recorder.lines().get(2)).endsWith("calls decided by on-store-failure: 1");
        assertThat(events).hasSize(2);
        assertThat(log.failures()).isEmpty();
        assertThat(log.isAvailable()).isTrue();
    }

    @Test
    void checkThatSucceedsAgainLeavesNothing() {
        log.checked(null, trouble);
        log.checked(null, null);
        assertThat(log.isAvailable()).isTrue();
        assertThat(log.failures()).isEmpty();
        assertThat(recorder.lines().get(1)).isEqualTo("Rate limit store answers checks again");
        log.checked(null, null);
        log.checked(null, new RateLimitStoreException(Reason.STALLED, "not sent", null));
        log.checked(null, new RateLimitStoreException(Reason.CLOSED, "closed", null));
        assertThat(log.isAvailable()).isTrue();
        assertThat(recorder.levels()).containsExactly("INFO", "INFO");
    }

    /** It makes an outage longer, but concerns no limit. */
    @Test
    void reasonThatACheckFindsIsNotSaidToConcernALimit() {
        log.failureOfCall(List.of(limit), trouble);
        log.checked(null, new RateLimitStoreException(Reason.BUSY, "busy", null));
        assertThat(recorder.lines().get(1))
                .isEqualTo("Rate limit store unavailable (error: down; now busy: busy); found by a check");
        assertThat(log.failures())
                .singleElement()
                .satisfies(known -> assertThat(known.calls()).isEqualTo(1));
        log.checked(null, new RateLimitStoreException(Reason.FOREIGN_VALUE, "foreign", null));
        assertThat(recorder.lines().get(2))
                .isEqualTo("Rate limit store holds a foreign value (foreign_value: foreign); found by a check");
    }

    @Test
    void endOfTheApplicationIsNoNews() {
        log.failureOfCall(List.of(limit), new RateLimitStoreException(Reason.CLOSED, "closed", null));
        assertThat(recorder.levels()).isEmpty();
        assertThat(log.failures()).isEmpty();
    }

    @Test
    void endOfTheApplicationIsNoNewsEitherAsTheReasonNotToAsk() {
        RateLimitStoreException closed = new RateLimitStoreException(Reason.CLOSED, "closed", null);
        log.failureOfCall(List.of(limit), new RateLimitStoreException(Reason.SHORT_CIRCUITED, "not asked", closed));
        assertThat(recorder.levels()).isEmpty();
        assertThat(log.failures()).isEmpty();
    }

    @Test
    void everyBrokenAlgorithmIsNamed() {
        for (int i = 0; i < 3; i++) {
            for (String name : List.of("nightly", "gcra")) {
                log.failureOfCall(List.of(limit), new AlgorithmFailureException("Redis: ", name, "take: no", null));
            }
        }
        assertThat(recorder.lines())
                .containsExactly(
                        "Rate limit algorithm failed (algorithm: Redis: Algorithm 'nightly': take: no); applying"
                                + " on-store-failure=local to limit 'quotes'",
                        "Rate limit algorithm failed (algorithm: Redis: Algorithm 'gcra': take: no); applying"
                                + " on-store-failure=local to limit 'quotes'");
        assertThat(log.failures())
                .extracting(StoreFailure::message, StoreFailure::calls)
                .containsExactly(
                        tuple("Redis: Algorithm 'gcra': take: no", 3L),
                        tuple("Redis: Algorithm 'nightly': take: no", 3L));
        assertThat(log.isAvailable()).isTrue();
        seconds = 59;
        log.failureOfCall(List.of(limit), new AlgorithmFailureException("", "gcra", "used: no", null));
        seconds = 60;
        log.success();
        assertThat(recorder.lines().get(2))
                .startsWith("Rate limits without a failure of algorithm 'nightly' for a minute (");
        assertThat(log.failures()).hasSize(1);
        seconds = 119;
        log.success();
        assertThat(log.failures()).isEmpty();
    }
}
