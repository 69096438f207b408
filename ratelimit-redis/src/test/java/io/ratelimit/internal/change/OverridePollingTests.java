package io.ratelimit.internal.change;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.Mockito.mock;

import io.ratelimit.OnStoreFailure;
import io.ratelimit.RateLimitOverride;
import io.ratelimit.internal.limiter.LimitCatalog;
import io.ratelimit.redis.HandTurnedThread;
import io.ratelimit.testing.TestSettings;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** How often an instance reads overrides that no message has announced. */
class OverridePollingTests {

    private final HandTurnedThread thread = new HandTurnedThread() {

        @Override
        public ScheduledFuture<?> schedule(Runnable work, long delay, TimeUnit unit) {
            var unused = super.schedule(work, delay, unit);
            return mock(ScheduledFuture.class);
        }
    };

    private int reads;

    private ChangeChannel.@Nullable Subscriber subscriber;

    private final OverrideSynchronizer synchronizer = new OverrideSynchronizer(
            new OverrideRepository() {

                @Override
                public CompletionStage<OverrideSnapshot> read() {
                    reads++;
                    return CompletableFuture.completedFuture(
                            new OverrideSnapshot(reads, OverrideSnapshot.Result.UNCHANGED, 0, 0, Map.of()));
                }

                @Override
                public CompletionStage<OverrideSnapshot> write(
                        String id, @Nullable RateLimitOverride next, @Nullable String principal, long expected) {
                    throw new AssertionError("must not be called");
                }

                @Override
                public boolean isShared() {
                    return true;
                }
            },
            new ChangeChannel() {

                @Override
                public void send(String topic, String message) {}

                @Override
                public void subscribe(String topic, Subscriber added) {
                    subscriber = added;
                }
            },
            () -> 0,
            thread);

    @Test
    void overridesAreReadInEverySecondAndLittleMore() {
        LimitCatalog catalog =
                new LimitCatalog(TestSettings.of(false, OnStoreFailure.LOCAL, Map.of()), null, () -> false);
        synchronizer.add(catalog);
        for (int second = 1; second <= 200; second++) {
            int before = reads;
            thread.pass(Duration.ofSeconds(1));
            assertThat(reads).isGreaterThan(before);
        }
        assertThat(reads).isLessThan(1 + 240);
        synchronizer.remove(catalog);
        int before = reads;
        thread.pass(Duration.ofSeconds(10));
        assertThat(reads).isEqualTo(before);
    }

    /** The thread of the polling takes no part: a reading that waits does not delay the next one. */
    @Test
    void messageIsFollowedByAReadingAtOnce() {
        subscriber.onMessage("quotes");
        assertThat(reads).isZero();
        synchronizer.add(new LimitCatalog(TestSettings.of(false, OnStoreFailure.LOCAL, Map.of()), null, () -> false));
        int before = reads;
        subscriber.onMessage("quotes");
        subscriber.onConnect();
        assertThat(reads).isEqualTo(before + 2);
    }
}
