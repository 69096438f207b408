package io.ratelimit.documentation;

import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.ratelimit.testing.LongRunning;
import io.ratelimit.testing.redis.RedisServer;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.assertj.core.api.SoftAssertions;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** The record of combinations says how many permits each event leaves of a limit with each feature. */
@LongRunning
class EventTests {

    private static final EventTable TABLE = EventTable.of("left after");

    /** What has no effect on memory. */
    private static final List<String> REDIS_ONLY =
            List.of("outage", "after outage", "restart with data", "restart without data", "shutdown");

    private static final List<String> MEMORY_ONLY = List.of("clock back");

    private static RedisServer redis;

    private static RedisServer further;

    private static EventStage shared;

    private static EventStage inMemory;

    @BeforeAll
    static void start() {
        redis = RedisServer.loadingAtOnce();
        further = new RedisServer();
        shared = new EventStage(redis, further);
        inMemory = new EventStage(null, null);
    }

    @AfterAll
    static void stop() {
        inMemory.close();
        shared.close();
        further.close();
        redis.close();
    }

    @Test
    void tableHasEachFeature() {
        TABLE.assertHasEachFeature();
    }

    static Stream<Arguments> events() {
        return TABLE.events().stream()
                .flatMap(event -> Stream.of(true, false)
                        .filter(ofRedis -> !(ofRedis ? MEMORY_ONLY : REDIS_ONLY).contains(event))
                        .map(ofRedis -> Arguments.of(event, ofRedis ? "redis" : "in-memory")));
    }

    @ParameterizedTest(name = "{0}, {1}")
    @MethodSource("events")
    void eventLeavesWhatTheRecordSays(String event, String store) throws Exception {
        EventStage stage = store.equals("redis") ? shared : inMemory;
        Map<String, String> expected = TABLE.column(event);
        List<String> features = expected.keySet().stream().filter(stage::has).toList();
        String key = "after " + event;
        if (event.equals("shutdown")) {
            try (EventStage other = new EventStage(redis, further)) {
                features.forEach(feature -> other.take(feature, key));
            }
        } else {
            features.forEach(feature -> stage.take(feature, key));
        }
        Map<String, String> actual = new TreeMap<>();
        for (String feature : features) {
            if (expected.get(feature).equals("refused")) {
                assertThatThrownBy(() -> happen(event, stage, feature, key))
                        .as(feature)
                        .hasMessageContaining("must be");
                actual.put(feature, "refused");
            } else {
                happen(event, stage, feature, key);
            }
        }
        happenToAll(event, stage);
        stage.endCalls();
        SoftAssertions soft = new SoftAssertions();
        for (String feature : features) {
            if (!actual.containsKey(feature)) {
                List<Long> bounds = Stream.of(expected.get(feature).split("–"))
                        .map(Long::valueOf)
                        .toList();
                soft.assertThat(admitted(stage, feature, key, bounds.get(0)))
                        .as(feature)
                        .isBetween(bounds.get(0), bounds.get(bounds.size() - 1));
            }
        }
        endOfEvent(event, stage, features);
        soft.assertAll();
    }

    /** Settlements are made in the background. */
    private static long admitted(EventStage stage, String feature, String key, long left) {
        if (List.of("permitsAfter", "refundOn").contains(feature)) {
            await().until(() -> stage.limits().remaining(feature, key) >= left);
        }
        return stage.limits().admitted(feature, key);
    }

    private static void happen(String event, EventStage stage, String feature, String key) {
        switch (event) {
            case "override" -> stage.override(feature, 20);
            case "refresh" -> stage.refresh(feature, 20);
            case "override ended" -> {
                stage.override(feature, 20);
                stage.removeOverride(feature);
            }
            case "reset" -> stage.bucket(feature, key).reset();
            case "grant" -> stage.bucket(feature, key).grant(2);
            case "block" -> stage.bucket(feature, key).block(Duration.ofHours(1));
            case "unblock" -> stage.bucket(feature, key).unblock();
            default -> {
                // Happens to all at once.
            }
        }
    }

    private static void happenToAll(String event, EventStage stage) {
        switch (event) {
            case "outage" -> {
                redis.kill();
                stage.awaitShared(false);
            }
            case "after outage" -> {
                redis.hang();
                stage.awaitShared(false);
                redis.goOn();
                stage.awaitShared(true);
            }
            case "restart with data" -> {
                redis.kill();
                stage.awaitShared(false);
                redis.restart();
                stage.awaitShared(true);
            }
            case "restart without data" -> redis.send("FLUSHALL");
            case "clock back" -> stage.clock.advance(-1_000_000);
            default -> {
                // Happened to each feature.
            }
        }
    }

    private static void endOfEvent(String event, EventStage stage, List<String> features) {
        switch (event) {
            case "outage" -> {
                redis.restart();
                stage.awaitShared(true);
            }
            case "override" ->
                features.stream().filter(feature -> !feature.equals("calendar")).forEach(stage::removeOverride);
            case "refresh" -> features.forEach(feature -> stage.refresh(feature, 10));
            default -> {
                // Nothing is left of it.
            }
        }
    }
}
