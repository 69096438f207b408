package io.ratelimit.redis.statistics;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.ratelimit.internal.statistics.InstanceFigures;
import io.ratelimit.internal.statistics.InstanceState;
import io.ratelimit.internal.statistics.Publication;
import io.ratelimit.redis.RateLimitScript;
import io.ratelimit.redis.connection.RedisConnector;
import io.ratelimit.testing.redis.RedisServer;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestInstance.Lifecycle;

/** The number of instances that a publication tells. */
@TestInstance(Lifecycle.PER_CLASS)
class CountedInstancesTests {

    private static final String INSTANCES = "counted:{%statistics}:instances";

    private RedisServer redis;

    private RedisConnector connector;

    private RedisStatistics statistics;

    @BeforeAll
    void start() throws Exception {
        redis = RedisServer.loadingAtOnce();
        connector = new RedisConnector(redis.connections(), Duration.ofSeconds(10), RateLimitScript.load(), null);
        statistics = new RedisStatistics(connector, "counted");
        await().ignoreExceptions().until(() -> publish("first", true) == 1);
        forget();
    }

    @AfterAll
    void stop() {
        connector.destroy();
        redis.close();
    }

    @AfterEach
    void forget() {
        redis.send("DEL", INSTANCES);
    }

    @Test
    void isOfThoseThatHaveNotLeft() {
        assertThat(publish("a", true)).isEqualTo(1);
        assertThat(publish("b", true)).isEqualTo(2);
        assertThat(publish("c", true)).isEqualTo(3);
        assertThat(publish("b", false)).isEqualTo(2);
        assertThat(publish("b", true)).isEqualTo(2);
        assertThat(statistics.read(0, 0, null).toCompletableFuture().join().instances())
                .extracting(InstanceFigures::id)
                .containsExactlyInAnyOrder("a", "b", "c");
    }

    @Test
    void isOfThoseThatHavePublishedWithinHalfAMinute() {
        noteOf("alive", 25);
        noteOf("killed", 35);
        noteOf("killed-long-ago", 17 * 60);
        assertThat(publish("new", true)).isEqualTo(2);
        assertThat(redis.send("HEXISTS", INSTANCES, "killed")).isEqualTo(1L);
        assertThat(redis.send("HEXISTS", INSTANCES, "killed-long-ago")).isEqualTo(0L);
    }

    @Test
    void isCountedEveryFewSeconds() {
        assertThat(publish("a", true)).isEqualTo(1);
        noteOf("b", 1);
        assertThat(publish("a", true)).isEqualTo(1);
        redis.send("HSET", INSTANCES, "%count", (nowMicros() - 6_000_000) + " 1");
        assertThat(publish("a", true)).isEqualTo(2);
    }

    private void noteOf(String id, int secondsAgo) {
        redis.send(
                "HSET", INSTANCES, id, (nowMicros() - secondsAgo * 1_000_000L) + " 7 1795132800000000 shared - name\n");
    }

    private static long nowMicros() {
        return System.currentTimeMillis() * 1_000;
    }

    private int publish(String id, boolean present) {
        InstanceFigures figures = new InstanceFigures(
                id, "name", Instant.EPOCH, Instant.EPOCH, new InstanceState("shared", null, List.of()), Map.of());
        return statistics
                .publish(new Publication(id, present ? figures : null, 0, nowMicros(), nowMicros(), new TreeMap<>()))
                .toCompletableFuture()
                .join()
                .instances();
    }
}
