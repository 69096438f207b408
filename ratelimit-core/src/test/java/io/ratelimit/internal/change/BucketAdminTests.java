package io.ratelimit.internal.change;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitAdmin;
import io.ratelimit.RateLimitAdmin.BucketStatus;
import io.ratelimit.RateLimitStoreException;
import io.ratelimit.RateLimitStoreException.Reason;
import io.ratelimit.event.RateLimitChangedEvent;
import io.ratelimit.event.RateLimitChangedEvent.Kind;
import io.ratelimit.internal.limiter.LimitCatalog;
import io.ratelimit.internal.limiter.RateLimitSettings;
import io.ratelimit.internal.memory.InMemoryRateLimitStore;
import io.ratelimit.internal.store.BucketUnchangedException;
import io.ratelimit.internal.store.DelegatingRateLimitStore;
import io.ratelimit.spi.BucketChange;
import io.ratelimit.spi.Charge;
import io.ratelimit.spi.KeyDigest;
import io.ratelimit.spi.RateLimitStore;
import io.ratelimit.testing.LogRecorder;
import io.ratelimit.testing.TestClock;
import io.ratelimit.testing.TestLimits;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class BucketAdminTests {

    private static final String KEY = "alice@example.org";

    private RateLimitStoreException down = new RateLimitStoreException(Reason.UNREACHABLE, "down", null);

    private final RateLimit limit = TestLimits.tokenBucket("quotes", 5, "1/s");

    private final List<String> messages = new ArrayList<>();

    private final List<RateLimitChangedEvent> events = new ArrayList<>();

    private final List<String> forgotten = new ArrayList<>();

    private ChangeChannel.@Nullable Subscriber subscriber;

    private boolean failing;

    private final RateLimitStore store =
            new DelegatingRateLimitStore(new InMemoryRateLimitStore(new TestClock(), 100)) {

                @Override
                public CompletionStage<BucketStatus> change(
                        RateLimit limit, @Nullable String key, BucketChange change) {
                    return failing ? CompletableFuture.failedFuture(down) : super.change(limit, key, change);
                }

                @Override
                public void forget(String limit, String keyDigest) {
                    forgotten.add(limit + " " + keyDigest);
                }
            };

    private final BucketUpdater changes =
            new BucketUpdater(store, new Channel(), events::add, Clock.fixed(Instant.EPOCH, ZoneOffset.UTC));

    private final RateLimitAdmin admin = admin();

    private final RateLimitAdmin.Bucket bucket = admin.bucket("quotes", KEY);

    private RateLimitAdmin admin() {
        LimitCatalog catalog = new LimitCatalog(RateLimitSettings.NONE, null, () -> false);
        catalog.declare(limit, "test");
        return new LimitAdmin(catalog, OverrideSynchronizer.ofThisInstance(), changes, () -> false, property -> null)
                .as("bob");
    }

    @Test
    void changesTheBucketAndReturnsIt() {
        take(4);
        assertThat(bucket.inspect().remaining()).isEqualTo(1);
        assertThat(bucket.grant(2).remaining()).isEqualTo(3);
        assertThat(bucket.block(Duration.ofMinutes(1)).blockedFor()).isEqualTo(Duration.ofMinutes(1));
        assertThat(bucket.inspect().isBlocked()).isTrue();
        assertThat(bucket.unblock().isBlocked()).isFalse();
        bucket.reset();
        assertThat(bucket.inspect()).isEqualTo(new BucketStatus(5, 5, Duration.ZERO, Duration.ZERO));
        assertThat(admin.bucket("quotes").inspect().remaining()).isEqualTo(5);
    }

    @Test
    void doesTheSameWithoutBlocking() {
        take(4);
        assertThat(bucket.grantAsync(2).thenCompose(status -> bucket.blockAsync(Duration.ofMinutes(1))))
                .isCompletedWithValueMatching(BucketStatus::isBlocked);
        assertThat(bucket.unblockAsync()).isCompletedWithValueMatching(status -> status.remaining() == 3);
        assertThat(bucket.resetAsync()).isCompleted();
        assertThat(bucket.inspectAsync()).isCompletedWithValueMatching(status -> status.remaining() == 5);
        assertThat(bucket.grantAsync(0)).isCompletedExceptionally();
    }

    @Test
    void tellsOtherInstancesTheDigestOfTheKey() {
        bucket.inspect();
        assertThat(messages).isEmpty();
        bucket.grant(1);
        bucket.block(Duration.ofMinutes(1));
        bucket.unblock();
        bucket.reset();
        admin.bucket("quotes").reset();
        String told = "buckets quotes " + KeyDigest.of(KEY);
        assertThat(messages).containsExactly(told, told, told, told, "buckets quotes " + KeyDigest.of(""));
        assertThat(messages).noneMatch(message -> message.contains("alice"));
    }

    @Test
    void forgetsWhatOthersHaveChanged() {
        subscriber.onMessage("quotes 0815");
        subscriber.onMessage("unreadable");
        assertThat(forgotten).containsExactly("quotes 0815");
    }

    @Test
    void publishesAndLogsChangesWithoutTheKey() {
        try (LogRecorder log = LogRecorder.ofThisThread("io.ratelimit")) {
            bucket.inspect();
            bucket.grant(7);
            bucket.block(Duration.ofMinutes(1));
            bucket.unblock();
            bucket.reset();
            assertThat(log.lines())
                    .containsExactly(
                            "Rate limit 'quotes': 7 permits granted to a bucket by bob",
                            "Rate limit 'quotes': a bucket is blocked until 1970-01-01T00:01:00Z by bob",
                            "Rate limit 'quotes': a bucket is unblocked by bob",
                            "Rate limit 'quotes': a bucket is reset by bob");
        }
        assertThat(events)
                .containsExactly(
                        new RateLimitChangedEvent("quotes", Kind.GRANTED, "7 permits", null, "bob", true),
                        new RateLimitChangedEvent(
                                "quotes", Kind.BLOCKED, "", Instant.EPOCH.plusSeconds(60), "bob", true),
                        new RateLimitChangedEvent("quotes", Kind.UNBLOCKED, "", null, "bob", true),
                        new RateLimitChangedEvent("quotes", Kind.RESET, "", null, "bob", true));
    }

    /** A change that has timed out may have been made, so the others ask again. */
    @ParameterizedTest
    @ValueSource(strings = {"inspect", "grant", "block", "unblock", "reset"})
    void failureOfTheStoreIsThrown(String operation) {
        failing = true;
        boolean changes = !operation.equals("inspect");
        try (LogRecorder log = LogRecorder.ofThisThread("io.ratelimit")) {
            assertThatExceptionOfType(RateLimitStoreException.class)
                    .isThrownBy(() -> attempt(operation))
                    .withMessage(
                            changes
                                    ? "down. The answer was lost, and Redis may still make the change. When Redis answers, look"
                                            + " at the key: GET of the endpoint with the same key, or inspect() of"
                                            + " RateLimitAdmin.Bucket."
                                    : "down");
            String what = switch (operation) {
                case "grant" -> "grant of 1 permit";
                case "block" -> "block for 1m, until 1970-01-01T00:01:00Z or later";
                default -> operation;
            };
            if (changes) {
                assertThat(log.lines())
                        .containsExactly("Rate limit 'quotes': no answer to a change of a bucket by bob: " + what
                                + " (down); Redis may still make it. When Redis answers, look at the key:"
                                + " GET /actuator/ratelimits/quotes?key=…, or inspect() of RateLimitAdmin.Bucket");
                assertThat(log.levels()).containsExactly("WARNING");
                assertThat(events)
                        .containsExactly(
                                new RateLimitChangedEvent("quotes", Kind.UNCONFIRMED, what, null, "bob", true));
            } else {
                assertThat(log.lines()).isEmpty();
                assertThat(events).isEmpty();
            }
        }
        assertThat(messages).hasSize(changes ? 1 : 0);
        failing = false;
        assertThat(bucket.inspect()).isEqualTo(new BucketStatus(5, 5, Duration.ZERO, Duration.ZERO));
    }

    static Stream<RateLimitStoreException> failureThatIsAnAnswerIsThrownAsItIs() {
        RateLimitStoreException timeout = new RateLimitStoreException(Reason.TIMEOUT, "timeout", null);
        RateLimitStoreException unsent = new BucketUnchangedException(timeout);
        return Stream.of(
                unsent,
                new RateLimitStoreException(Reason.CLOSED, "closed", unsent),
                new RateLimitStoreException(Reason.CLOSED, "closed", null),
                new RateLimitStoreException(Reason.FOREIGN_VALUE, "foreign", null),
                new RateLimitStoreException(Reason.SHORT_CIRCUITED, "open", timeout));
    }

    @ParameterizedTest
    @MethodSource
    void failureThatIsAnAnswerIsThrownAsItIs(RateLimitStoreException failure) {
        down = failure;
        failing = true;
        try (LogRecorder log = LogRecorder.ofThisThread("io.ratelimit")) {
            assertThatExceptionOfType(RateLimitStoreException.class)
                    .isThrownBy(() -> attempt("reset"))
                    .isSameAs(failure);
            assertThat(log.lines()).isEmpty();
        }
        assertThat(events).isEmpty();
    }

    @Test
    void answerThatIsLostAtTheEndOfTheApplicationIsLogged() {
        down = new RateLimitStoreException(Reason.CLOSED, "closed", down);
        failing = true;
        assertThat(bucket.unblockAsync()).isCompletedExceptionally();
        assertThat(events).extracting(RateLimitChangedEvent::kind).containsExactly(Kind.UNCONFIRMED);
    }

    private void attempt(String operation) {
        switch (operation) {
            case "inspect" -> bucket.inspect();
            case "grant" -> bucket.grant(1);
            case "block" -> bucket.block(Duration.ofMinutes(1));
            case "unblock" -> bucket.unblock();
            default -> bucket.reset();
        }
    }

    private void take(long permits) {
        assertThat(store.decide(new Charge(limit, KEY, permits))
                        .await()
                        .decision()
                        .allowed())
                .isTrue();
    }

    private final class Channel implements ChangeChannel {

        @Override
        public void send(String topic, String message) {
            messages.add(topic + " " + message);
        }

        @Override
        public void subscribe(String topic, Subscriber added) {
            assertThat(topic).isEqualTo("buckets");
            subscriber = added;
        }
    }
}
