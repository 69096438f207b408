package io.ratelimit.internal.change;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.ratelimit.LimitAttributes;
import io.ratelimit.LimitConfiguration;
import io.ratelimit.RateLimitAdmin;
import io.ratelimit.RateLimitConflictException;
import io.ratelimit.RateLimitOverride;
import io.ratelimit.RateLimitStatus;
import io.ratelimit.event.RateLimitChangedEvent;
import io.ratelimit.event.RateLimitChangedEvent.Kind;
import io.ratelimit.internal.change.SimulatedInstance.Network;
import io.ratelimit.internal.change.SimulatedInstance.Request;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

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

    /** Runs all requests, the last ones first if they may overtake each other. */
    private void answer(boolean overtaking) {
        while (!instance.requests.isEmpty()) {
            List<Request> sent = new ArrayList<>(instance.requests);
            if (overtaking) {
                Collections.reverse(sent);
            }
            sent.forEach(request -> {
                server.pass(Duration.ofMillis(1));
                request.run();
            });
            Collections.reverse(sent);
            sent.forEach(Request::reply);
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void changeIsMadeHereAlsoIfAReadingIsUnderWay(boolean overtaking) {
        for (boolean readingFirst : new boolean[] {true, false}) {
            instance.events.clear();
            instance.network = Network.SLOW;
            if (readingFirst) {
                instance.poll();
            }
            var status = override(readingFirst ? 20 : 30).toCompletableFuture();
            if (!readingFirst) {
                instance.poll();
            }
            answer(overtaking);
            assertThat(status.join().effective().capacity()).isEqualTo(readingFirst ? 20 : 30);
            assertThat(capacity()).isEqualTo(readingFirst ? 20 : 30);
            assertThat(instance.events).singleElement().matches(RateLimitChangedEvent::madeHere);
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void eachOfSeveralChangesIsMadeHere(boolean overtaking) {
        instance.network = Network.SLOW;
        override(20);
        override(30);
        var removal = instance.admin
                .removeOverrideAsync("quotes", RateLimitAdmin.ANY_VERSION)
                .toCompletableFuture();
        answer(overtaking);
        assertThat(removal).isCompleted();
        assertThat(instance.events).hasSize(3).allMatch(RateLimitChangedEvent::madeHere);
    }

    @Test
    void changeWhoseTurnComesTooLateIsNotSent() {
        instance.synchronizer.remove(instance.catalog);
        instance.network = Network.SLOW;
        override(20);
        var late = override(30).toCompletableFuture();
        instance.pass(Duration.ofSeconds(3));
        answer(false);
        assertThat(server.overrides.get("quotes").attributes()).isEqualTo(capacity(20));
        assertThat(late).failsWithin(Duration.ZERO).withThrowableThat().withMessageEndingWith("Nothing was changed.");
    }

    @Test
    void readingsThatWaitForTheAnswerToAChangeAreOne() {
        instance.network = Network.SLOW;
        override(20);
        int before = instance.sent;
        for (int i = 0; i < 100; i++) {
            instance.poll();
        }
        answer(false);
        assertThat(instance.sent).isEqualTo(before + 1);
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
