package io.ratelimit.internal.statistics;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitDecision;
import io.ratelimit.RateLimitStoreException;
import io.ratelimit.RateLimitStoreException.Reason;
import io.ratelimit.spi.Charge;
import io.ratelimit.spi.RateLimitListener.Outcome;
import io.ratelimit.testing.LogRecorder;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class StatisticsPublisherTests {

    private static final RateLimit QUOTES =
            RateLimit.named("quotes").rate("10/h").build();

    /** The shared clock and that of the instance differ by a few milliseconds. */
    private static final long NOON = 1_795_132_800_000_000L;

    private long nanos = 777;

    private final CallCounting counting = new CallCounting(null, () -> nanos);

    private final InstanceStatistics statistics =
            new InstanceStatistics(counting, new IntervalClock(() -> nanos, NOON));

    private final Stub shared = new Stub();

    private InstanceState state = new InstanceState("shared", null, List.of());

    private final InstanceCount count = new InstanceCount();

    private final StatisticsPublisher publisher = new StatisticsPublisher(
            statistics,
            shared,
            "id",
            () -> new InstanceFigures(
                    "id",
                    "name",
                    IntervalClock.instant(NOON),
                    IntervalClock.instant(NOON),
                    state,
                    statistics.lastMinute()),
            nanos,
            count);

    @Test
    void tellsOnceWhatWasCounted() {
        allow(3);
        round();
        assertThat(shared.published).extracting(Publication::counts).containsExactly(counts(NOON, 3));
        round();
        assertThat(shared.published).hasSize(1);
        allow(2);
        round();
        assertThat(shared.published)
                .extracting(Publication::sequence, Publication::counts)
                .containsExactly(tuple(1L, counts(NOON, 3)), tuple(2L, counts(NOON, 2)));
    }

    @Test
    void tellsNothingButASignOfLifeWhileNothingHappens() {
        for (int second = 0; second < 60; second++) {
            round();
        }
        assertThat(shared.published).hasSize(6).allSatisfy(each -> {
            assertThat(each.counts()).isEmpty();
            assertThat(each.sequence()).isZero();
        });
    }

    @Test
    void tellsAChangeOfItsState() {
        round();
        state = new InstanceState("on-store-failure", "timeout", List.of());
        round();
        round();
        assertThat(shared.published)
                .extracting(each -> each.instance().state().state())
                .containsExactly("shared", "on-store-failure");
    }

    @Test
    void sendsTheSameCountsWithTheSameNumberUntilTheyArrive() {
        allow(3);
        shared.failure = new RateLimitStoreException(Reason.TIMEOUT, "No answer", null);
        round();
        allow(4);
        round();
        round();
        shared.failure = null;
        round();
        round();
        round();
        List<SortedMap<Long, Map<String, CallCounts>>> told =
                shared.published.stream().map(Publication::counts).toList();
        assertThat(told.subList(0, told.size() - 1)).hasSizeGreaterThan(1).containsOnly(counts(NOON, 3));
        assertThat(told.get(told.size() - 1)).isEqualTo(counts(NOON, 4));
        assertThat(shared.published).extracting(Publication::sequence).endsWith(1L, 2L);
    }

    @Test
    void afterAnOutageTellsAllOfItWithinFifteenMinutes() {
        shared.failure = new RateLimitStoreException(Reason.UNREACHABLE, "No connection", null);
        for (int minute = 0; minute < 20; minute++) {
            allow(1);
            for (int second = 0; second < 60; second++) {
                round();
            }
        }
        assertThat(shared.published).hasSizeLessThan(20 * 60 / 7);
        shared.failure = null;
        shared.published.clear();
        for (int second = 0; second < 20; second++) {
            round();
        }
        // The first counts may have arrived; those that waited longer than the history goes back are gone.
        assertThat(total()).isBetween(14L, 16L);
        assertThat(shared.published).allMatch(each -> each.counts().size() <= 12);
    }

    @Test
    void isSlowerIfThereAreManyInstances() {
        shared.instances = 250;
        for (int second = 0; second < 20; second++) {
            allow(1);
            round();
        }
        assertThat(shared.published).hasSize(4);
        assertThat(total()).isGreaterThanOrEqualTo(16);
    }

    @Test
    void keepsTheNumberOfInstancesInAnOutage() {
        shared.instances = 4;
        round();
        shared.failure = new RateLimitStoreException(Reason.UNREACHABLE, "No connection", null);
        for (int second = 0; second < 600; second++) {
            round();
        }
        assertThat(count.get()).isEqualTo(4);
        shared.failure = null;
        shared.instances = 1;
        for (int second = 0; second < 30; second++) {
            round();
        }
        assertThat(count.get()).isEqualTo(4);
        for (int second = 0; second < 30; second++) {
            round();
        }
        assertThat(count.get()).isEqualTo(1);
    }

    @Test
    void sendsNothingMoreWhileAReplyIsMissing() {
        shared.held = new CompletableFuture<>();
        allow(1);
        round();
        allow(1);
        round();
        assertThat(shared.published).hasSize(1);
        CompletableFuture<Void> held = shared.held;
        shared.held = null;
        held.complete(null);
        round();
        assertThat(shared.published).hasSize(2);
    }

    @Test
    void takesTheSharedClockAndSendsTheCountsOfItsIntervals() {
        long hour = 3_600_000_000L;
        shared.ahead = hour;
        allow(3);
        round();
        assertThat(shared.published).hasSize(1);
        assertThat(shared.accepted).isEmpty();
        round();
        assertThat(shared.accepted).extracting(Publication::counts).containsExactly(counts(NOON + hour, 3));
        shared.ahead = 0;
        allow(2);
        round();
        round();
        assertThat(shared.accepted)
                .extracting(Publication::counts)
                .containsExactly(counts(NOON + hour, 3), counts(NOON, 2));
        assertThat(statistics.history().get(IntervalClock.intervalAt(NOON)))
                .isEqualTo(Map.of("quotes", new CallCounts(5, 0, 0, 0)));
    }

    @Test
    void tellsTheRestAndThatItLeavesAndThenNothing() {
        round();
        allow(2);
        statistics.sample();
        assertThat(publisher.leave()).isDone();
        allow(1);
        round();
        assertThat(shared.published).hasSize(2);
        assertThat(shared.published.get(1).instance()).isNull();
        assertThat(shared.published.get(1).counts()).isEqualTo(counts(NOON, 2));
        publisher.join();
        round();
        assertThat(shared.published.get(2).instance()).isNotNull();
        assertThat(total()).isEqualTo(3);
    }

    @Test
    void tellsTheRestAfterWhatIsUnderWayWhenItLeaves() {
        CompletableFuture<Void> held = new CompletableFuture<>();
        shared.held = held;
        allow(3);
        round();
        allow(2);
        statistics.sample();
        CompletableFuture<?> left = publisher.leave();
        shared.held = null;
        held.complete(null);
        assertThat(left).isDone();
        assertThat(shared.published).last().extracting(Publication::instance).isNull();
        assertThat(total()).isEqualTo(5);
    }

    @Test
    void survivesWhatIsThrownAndLogsOnceWhatCallsDoNotReport() {
        try (LogRecorder log = LogRecorder.ofThisThread("io.ratelimit")) {
            shared.failure = new RateLimitStoreException(Reason.UNREACHABLE, "No connection", null);
            round();
            assertThat(log.lines()).isEmpty();
            shared.failure = new RateLimitStoreException(Reason.FORBIDDEN, "NOPERM", null);
            for (int second = 0; second < 60; second++) {
                round();
            }
            assertThat(log.text())
                    .isEqualTo("WARNING Figures of rate limits cannot be shared with the other instances (NOPERM);"
                            + " each instance shows its own");
            shared.failure = null;
            for (int second = 0; second < 10; second++) {
                round();
            }
            assertThat(log.lines())
                    .hasSize(2)
                    .last()
                    .isEqualTo("Figures of rate limits are shared with the other instances again");
        }
    }

    private void allow(int calls) {
        for (int i = 0; i < calls; i++) {
            counting.onDecision(new Charge(QUOTES, null, 1), RateLimitDecision.unlimited(10), Outcome.ALLOWED);
        }
    }

    private void round() {
        statistics.sample();
        publisher.round();
        nanos += Duration.ofSeconds(1).toNanos();
    }

    private long total() {
        return shared.accepted.stream()
                .flatMap(each -> each.counts().values().stream())
                .mapToLong(each -> each.get("quotes").allowed())
                .sum();
    }

    private static SortedMap<Long, Map<String, CallCounts>> counts(long micros, long allowed) {
        return new TreeMap<>(
                Map.of(IntervalClock.intervalAt(micros), Map.of("quotes", new CallCounts(allowed, 0, 0, 0))));
    }

    /** Others, that reply at once. */
    private final class Stub implements SharedStatistics {

        private final List<Publication> published = new ArrayList<>();

        /** Those with another number than the ones before. */
        private final List<Publication> accepted = new ArrayList<>();

        private @Nullable RuntimeException failure;

        private @Nullable CompletableFuture<Void> held;

        private int instances = 1;

        private long ahead;

        private long last;

        @Override
        public CompletionStage<Receipt> publish(Publication publication) {
            published.add(publication);
            if (failure != null) {
                throw failure;
            }
            long now = NOON + (nanos - 777) / 1_000 + ahead;
            boolean near = Math.abs(now - publication.nowMicros()) < TOLERANCE_MICROS;
            if (near && publication.sequence() > last) {
                last = publication.sequence();
                accepted.add(publication);
            }
            Receipt receipt = new Receipt(now, instances, near);
            return held == null ? CompletableFuture.completedFuture(receipt) : held.thenApply(done -> receipt);
        }

        @Override
        public CompletionStage<?> publishKeys(String instance, Map<String, KeyReport> reports) {
            throw new UnsupportedOperationException();
        }

        @Override
        public CompletionStage<Map<String, KeyReport>> readKeys(String limit) {
            throw new UnsupportedOperationException();
        }

        @Override
        public CompletionStage<Snapshot> read(long first, long last, @Nullable String limit) {
            throw new UnsupportedOperationException();
        }
    }
}
