package io.ratelimit.internal.change;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.ratelimit.LimitAttributes;
import io.ratelimit.LimitConfiguration;
import io.ratelimit.RateLimitAdmin;
import io.ratelimit.RateLimitChangedEvent;
import io.ratelimit.RateLimitChangedEvent.Kind;
import io.ratelimit.RateLimitConflictException;
import io.ratelimit.RateLimitOverride;
import io.ratelimit.RateLimitStatus;
import io.ratelimit.internal.change.SimulatedInstance.Network;
import io.ratelimit.internal.change.SimulatedInstance.Request;
import java.time.Duration;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Replies that are late, and servers whose clocks differ. */
class OverrideClockTests {

    private static final Duration SECOND = Duration.ofSeconds(1);

    private final OverrideServer server = new OverrideServer();

    private final SimulatedInstance instance =
            new SimulatedInstance(server, LimitConfiguration.of("quotes").with(LimitAttributes.RATE, "10/h"));

    private void pass(Duration time) {
        server.pass(time);
        instance.pass(time);
    }

    private static RateLimitOverride capacity(long capacity) {
        return RateLimitOverride.builder().capacity(capacity).build();
    }

    private CompletionStage<RateLimitStatus> override(long capacity) {
        return instance.admin.overrideAsync("quotes", capacity(capacity), RateLimitAdmin.ANY_VERSION);
    }

    private long capacity() {
        return instance.effective("quotes").capacity();
    }

    @Test
    void overrideAppliesWithinASecondAfterAFailoverToAClockBehind() {
        pass(SECOND);
        server.pass(Duration.ofSeconds(-3));
        server.put("quotes", capacity(20), null);
        pass(SECOND);
        assertThat(capacity()).isEqualTo(20);
        server.pass(Duration.ofSeconds(-3));
        assertThat(instance.admin.override("quotes", capacity(30)).effective().capacity())
                .isEqualTo(30);
        server.pass(Duration.ofHours(-3));
        assertThat(instance.admin.removeOverride("quotes").override()).isNull();
    }

    @Test
    void readingThatWasRunBeforeAChangeDoesNotUndoIt() {
        instance.network = Network.SLOW;
        instance.poll();
        Request reading = instance.requests.get(0);
        reading.run();
        server.pass(Duration.ofMillis(1));
        var status = override(20).toCompletableFuture();
        Request change = instance.requests.get(1);
        change.run();
        change.reply();
        assertThat(status.join().effective().capacity()).isEqualTo(20);
        reading.reply();
        assertThat(capacity()).isEqualTo(20);
    }

    @Test
    void changeThatWasRunAfterALaterReadingApplies() {
        instance.network = Network.SLOW;
        var status = override(20).toCompletableFuture();
        instance.poll();
        Request change = instance.requests.get(0);
        Request reading = instance.requests.get(1);
        reading.run();
        reading.reply();
        server.pass(Duration.ofMillis(1));
        change.run();
        change.reply();
        assertThat(status.join().effective().capacity()).isEqualTo(20);
    }

    @Test
    void changeOfAnotherInstanceIsNoneOfTheInstanceThatLearnsOfItByAConflict() {
        server.put("quotes", capacity(20), "bob");
        assertThatExceptionOfType(RateLimitConflictException.class)
                .isThrownBy(() -> instance.admin.as("alice").override("quotes", capacity(30), 0));
        assertThat(instance.events).containsExactly(event(Kind.OVERRIDDEN, "capacity 20", "bob"));
    }

    @Test
    void removalByAnotherInstanceIsNoneOfTheInstanceThatRemovesTheOverrideLater() {
        instance.admin.override("quotes", capacity(20));
        server.overrides.clear();
        instance.events.clear();
        instance.admin.as("alice").removeOverride("quotes");
        assertThat(instance.events).containsExactly(event(Kind.OVERRIDE_REMOVED, "", null));
    }

    private static RateLimitChangedEvent event(Kind kind, String change, @Nullable String principal) {
        return new RateLimitChangedEvent("quotes", kind, change, null, principal, false);
    }

    @Test
    void overrideEndsByTheClockOfTheServerThatWasReadLast() {
        instance.admin.override(
                "quotes",
                RateLimitOverride.builder()
                        .capacity(20)
                        .duration(Duration.ofSeconds(10))
                        .build());
        pass(Duration.ofSeconds(5));
        server.pass(Duration.ofSeconds(-3));
        pass(Duration.ofMillis(7_900));
        assertThat(capacity()).isEqualTo(20);
        pass(Duration.ofMillis(200));
        assertThat(capacity()).isEqualTo(10);
        instance.admin.override(
                "quotes",
                RateLimitOverride.builder()
                        .capacity(20)
                        .duration(Duration.ofSeconds(10))
                        .build());
        server.pass(Duration.ofSeconds(20));
        instance.pass(SECOND);
        assertThat(capacity()).isEqualTo(10);
        assertThat(server.overrides).isEmpty();
    }

    @Test
    void overrideEndsWithoutTheServerWhichIsNotAskedMoreOften() {
        instance.admin.override(
                "quotes",
                RateLimitOverride.builder()
                        .capacity(20)
                        .duration(Duration.ofSeconds(10))
                        .build());
        instance.network = Network.DOWN;
        pass(Duration.ofMillis(9_900));
        assertThat(capacity()).isEqualTo(20);
        pass(Duration.ofMillis(101));
        assertThat(capacity()).isEqualTo(10);
        int before = instance.sent;
        pass(Duration.ofSeconds(10));
        assertThat(instance.sent - before).isBetween(10, 13);
        // The clock of a server that has come back may be behind: then it is in force again, on all instances.
        server.pass(Duration.ofSeconds(-15));
        instance.network = Network.UP;
        pass(SECOND);
        assertThat(capacity()).isEqualTo(20);
        pass(Duration.ofSeconds(5));
        assertThat(capacity()).isEqualTo(10);
    }
}
