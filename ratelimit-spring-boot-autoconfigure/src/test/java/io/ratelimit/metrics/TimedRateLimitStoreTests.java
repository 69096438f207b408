package io.ratelimit.metrics;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.mockito.ArgumentMatchers.anyLong;
import static org.mockito.ArgumentMatchers.eq;
import static org.mockito.BDDMockito.given;
import static org.mockito.BDDMockito.then;
import static org.mockito.BDDMockito.willThrow;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.never;
import static org.mockito.Mockito.spy;

import io.micrometer.core.instrument.Clock;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.distribution.DistributionStatisticConfig;
import io.micrometer.core.instrument.distribution.pause.PauseDetector;
import io.micrometer.core.instrument.simple.SimpleConfig;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitDecision;
import io.ratelimit.RateLimitStoreException;
import io.ratelimit.RateLimitStoreException.Reason;
import io.ratelimit.internal.memory.InMemoryRateLimitStore;
import io.ratelimit.spi.Charge;
import io.ratelimit.spi.Lease;
import io.ratelimit.spi.RateLimitStore;
import io.ratelimit.spi.Refund;
import io.ratelimit.spi.StoreAnswer;
import io.ratelimit.spi.StoreOutcome;
import io.ratelimit.spi.StoreRequest;
import io.ratelimit.spi.TimeSource;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class TimedRateLimitStoreTests {

    private static final List<Charge> CHARGES =
            List.of(new Charge(RateLimit.named("quotes").rate("1/s").build(), "alice", 1));

    private static final List<RateLimitDecision> DECISIONS = List.of(RateLimitDecision.ofMicros(1, 0, 0, 0, 1_000_000));

    private static final StoreRequest REQUEST = StoreRequest.of(CHARGES);

    private static final StoreOutcome OUTCOME = StoreOutcome.of(REQUEST, DECISIONS);

    private final RateLimitStore store = mock();

    private final MeterRegistry meters = new SimpleMeterRegistry();

    private final RateLimitStore timed =
            new TimedRateLimitStore(store, Tags.of("store", "redis"), new ContextMeters(meters));

    @ParameterizedTest
    @ValueSource(strings = {"success", "timeout", "error", "stalled", "short_circuited"})
    void timersExistFromTheStart(String outcome) {
        assertThat(count(outcome)).isZero();
    }

    @Test
    void decisionIsTimed() {
        given(store.decide(REQUEST)).willReturn(OUTCOME);
        assertThat(timed.decide(REQUEST).await()).isSameAs(OUTCOME);
        assertThat(count("success")).isEqualTo(1);
    }

    @Test
    void decisionAboutOneChargeIsTimed() {
        given(store.decide(CHARGES.get(0))).willReturn(OUTCOME);
        assertThat(timed.decide(CHARGES.get(0)).await()).isSameAs(OUTCOME);
        assertThat(count("success")).isEqualTo(1);
    }

    @Test
    void timerAndDecisionInMemoryReadTheClockOnce() {
        InMemoryRateLimitStore memory = spy(new InMemoryRateLimitStore(TimeSource.monotonic(), 10));
        Charge charge = CHARGES.get(0);
        RateLimitStore inMemory = new TimedRateLimitStore(memory, Tags.of("store", "redis"), new ContextMeters(meters));
        assertThat(inMemory.decide(charge).await().decision().allowed()).isTrue();
        then(memory).should().decide(eq(charge), anyLong());
        then(memory).should(never()).decide(charge);
        assertThat(count("success")).isEqualTo(1);
    }

    static Stream<Arguments> failures() {
        return Stream.of(
                Arguments.of(new RateLimitStoreException(Reason.TIMEOUT, "", null), "timeout"),
                Arguments.of(new RateLimitStoreException(Reason.STALLED, "", null), "stalled"),
                Arguments.of(new RateLimitStoreException(Reason.ERROR, "", null), "error"),
                Arguments.of(new IllegalStateException(), "error"));
    }

    @ParameterizedTest
    @MethodSource("failures")
    void failureIsTimedByItsReasonAndPassedOn(RuntimeException failure, String outcome) {
        given(store.decide(REQUEST)).willThrow(failure);
        assertThat(catchThrowable(() -> timed.decide(REQUEST).await())).isSameAs(failure);
        assertThat(count(outcome)).isEqualTo(1);
        StoreRequest refundable = StoreRequest.refundable(CHARGES);
        given(store.decide(refundable)).willReturn(StoreAnswer.of(() -> CompletableFuture.failedFuture(failure)));
        assertThat(catchThrowable(() -> timed.decide(refundable).await())).isSameAs(failure);
        assertThat(count(outcome)).isEqualTo(2);
        assertThat(count("success")).isZero();
    }

    @ParameterizedTest
    @MethodSource("failures")
    void failureOfAnAsynchronousDecisionIsTimedByItsReason(RuntimeException failure, String outcome) {
        given(store.decide(REQUEST))
                .willReturn(StoreAnswer.of(() -> CompletableFuture.failedFuture(new CompletionException(failure))));
        assertThat(timed.decide(REQUEST).toStage()).isCompletedExceptionally();
        assertThat(count(outcome)).isEqualTo(1);
    }

    @Test
    void decisionIsTimedAndWhatIsRefundedIsNot() {
        Refund refund = mock();
        StoreOutcome decided = StoreOutcome.of(REQUEST, DECISIONS, refund);
        given(store.decide(StoreRequest.refundable(CHARGES)))
                .willReturn(StoreAnswer.of(() -> CompletableFuture.completedFuture(decided)));
        StoreOutcome timedDecisions = timed.decide(StoreRequest.refundable(CHARGES))
                .toStage()
                .toCompletableFuture()
                .join();
        timedDecisions.refund().refund(Map.of(CHARGES.get(0), 1L));
        assertThat(timedDecisions.decisions()).isSameAs(DECISIONS);
        then(refund).should().refund(Map.of(CHARGES.get(0), 1L));
        assertThat(count("success")).isEqualTo(1);
        given(store.decide(StoreRequest.refundable(CHARGES)))
                .willReturn(StoreAnswer.of(
                        () -> CompletableFuture.failedFuture(new RateLimitStoreException(Reason.TIMEOUT, "", null))));
        assertThat(timed.decide(StoreRequest.refundable(CHARGES)).toStage()).isCompletedExceptionally();
        assertThat(count("timeout")).isEqualTo(1);
    }

    @Test
    void leaseIsTimedAsADecision() {
        StoreOutcome leased =
                StoreOutcome.of(StoreRequest.of(CHARGES), DECISIONS).with(Lease.NONE);
        given(store.decide(StoreRequest.lease(CHARGES.get(0), 10)))
                .willReturn(StoreAnswer.of(() -> CompletableFuture.completedFuture(leased)));
        assertThat(timed.decide(StoreRequest.lease(CHARGES.get(0), 10)).toStage())
                .isCompletedWithValue(leased);
        assertThat(count("success")).isEqualTo(1);
        given(store.decide(StoreRequest.lease(CHARGES.get(0), 10)))
                .willReturn(StoreAnswer.of(
                        () -> CompletableFuture.failedFuture(new RateLimitStoreException(Reason.TIMEOUT, "", null))));
        assertThat(timed.decide(StoreRequest.lease(CHARGES.get(0), 10)).toStage())
                .isCompletedExceptionally();
        assertThat(count("timeout")).isEqualTo(1);
    }

    @Test
    void meterThatFailsLeavesTheDecisionAlone() {
        RateLimitStore fragile = new TimedRateLimitStore(
                store, Tags.of("store", "redis"), new ContextMeters(new FailingMeterRegistry()));
        given(store.decide(REQUEST)).willReturn(OUTCOME);
        assertThat(fragile.decide(REQUEST)).isSameAs(OUTCOME);
        given(store.decide(REQUEST)).willReturn(StoreAnswer.of(() -> CompletableFuture.completedFuture(OUTCOME)));
        assertThat(fragile.decide(REQUEST).toStage()).isCompletedWithValue(OUTCOME);
    }

    private long count(String outcome) {
        return meters.get("ratelimit.store")
                .tag("store", "redis")
                .tag("outcome", outcome)
                .timer()
                .count();
    }

    /** Registers timers, and then refuses what they measure. */
    private static final class FailingMeterRegistry extends SimpleMeterRegistry {

        FailingMeterRegistry() {
            super(SimpleConfig.DEFAULT, Clock.SYSTEM);
        }

        @Override
        protected Timer newTimer(Meter.Id id, DistributionStatisticConfig histogram, PauseDetector pauses) {
            Timer timer = mock();
            willThrow(new IllegalStateException("full"))
                    .given(timer)
                    .record(anyLong(), org.mockito.ArgumentMatchers.any());
            return timer;
        }
    }
}
