package io.ratelimit.internal.statistics;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;
import static org.assertj.core.api.InstanceOfAssertFactories.LONG;
import static org.awaitility.Awaitility.await;

import io.ratelimit.testing.LogRecorder;
import io.ratelimit.testing.LongRunning;
import io.ratelimit.testing.redis.FaultyProxy;
import io.ratelimit.testing.redis.RedisCluster;
import io.ratelimit.testing.redis.RedisServer;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Every instance shows what all of them have counted. */
@Timeout(300)
@LongRunning
class SharedFiguresTests {

    private static final RedisServer redis = RedisServer.loadingAtOnce();

    /** After about a second, as documented, unless the machine is busy. */
    private static final Duration SOON = Duration.ofSeconds(60);

    private static final Duration AFTER_AN_OUTAGE = Duration.ofSeconds(60);

    private final String prefix = "figures-" + System.nanoTime();

    @AfterAll
    static void stopRedis() {
        redis.close();
    }

    @Test
    void everyInstanceShowsTheCallsOfAll() {
        try (CountingInstance first = start();
                CountingInstance second = start()) {
            first.call("alice", 12);
            second.call("bob", 3);
            awaitLastMinute(first, counts(13, 2));
            awaitLastMinute(second, counts(13, 2));
            // Figures that are not read in time are those of the instance alone.
            Figures figures = await().until(first::figures, Figures::ofAllInstances);
            List<String> names =
                    figures.instances().stream().map(InstanceFigures::name).toList();
            assertThat(names).hasSize(2);
            assertThat(names.get(1)).isEqualTo(names.get(0) + "#2");
            assertThat(figures.byInstance("quotes"))
                    .isEqualTo(Map.of(names.get(0), counts(10, 2), names.get(1), counts(3, 0)));
            CountSeries history = figures.history("quotes");
            assertThat(LongStream.of(history.allowed()).sum()).isEqualTo(13);
            assertThat(history.allowed()).hasSize(181);
            assertThat(history.refused()).isNull();
        }
    }

    @Test
    void instanceThatStopsLeavesAtOnceAndItsLastCallsStay() {
        try (CountingInstance first = start()) {
            try (CountingInstance second = start()) {
                await().atMost(SOON).until(() -> first.figures().instances().size() == 2);
                second.call("alice", 11);
            }
            assertThat(first.lastMinute()).isEqualTo(counts(10, 1));
            assertThat(first.figures().instances()).hasSize(1);
        }
    }

    @Test
    void nothingIsCountedTwiceAndNothingIsLostWhileRedisIsAway() {
        try (CountingInstance first = start();
                CountingInstance second = start()) {
            first.call("alice", 3);
            awaitLastMinute(second, counts(3, 0));
            redis.kill();
            try {
                first.call("alice", 4);
                second.call("bob", 2);
                Figures figures = first.figures();
                assertThat(figures.ofAllInstances()).isFalse();
                assertThat(figures.lastMinute("quotes")).isEqualTo(counts(7, 0));
                assertThat(figures.instances()).hasSize(1);
                assertThat(figures.instances().get(0).state().state()).isEqualTo("on-store-failure");
            } finally {
                redis.restart();
            }
            await().atMost(AFTER_AN_OUTAGE)
                    .untilAsserted(() -> assertThat(sum(second.figures())).isEqualTo(9));
            await().atMost(AFTER_AN_OUTAGE)
                    .until(() -> second.figures().instances().stream()
                            .allMatch(each -> each.state().state().equals("shared")));
        }
    }

    @Test
    void countsWhoseReplyIsLostAreSentAgainAndCountedOnce() {
        try (FaultyProxy proxy = new FaultyProxy(redis.port());
                CountingInstance first =
                        new CountingInstance(proxy.port(), prefix, "ratelimit.limits.quotes.scope=instance");
                CountingInstance second = start()) {
            int calls = 0;
            for (int round = 0; round < 4; round++) {
                proxy.loseReplies(3);
                for (String key : List.of("alice", "bob", "carol")) {
                    first.call(key + round, 2);
                    calls += 2;
                }
                await().atMost(AFTER_AN_OUTAGE).until(() -> proxy.repliesToLose() == 0);
            }
            long counted = calls;
            await().atMost(AFTER_AN_OUTAGE).until(() -> sum(second.figures()) >= counted);
            assertThat(sum(second.figures())).isEqualTo(counted);
        }
    }

    @Test
    void mostRejectedKeysAreThoseOfAllInstances() {
        String enabled = "ratelimit.top-keys.enabled=true";
        try (CountingInstance first = new CountingInstance(redis.port(), prefix, enabled);
                CountingInstance second = new CountingInstance(redis.port(), prefix, enabled)) {
            String name = "<img src=x> ü\n%";
            first.call(name, 13);
            second.call(name, 2);
            second.call("bob", 11);
            List<KeyCount> expected = List.of(new KeyCount(name, 5, 0), new KeyCount("bob", 1, 0));
            for (CountingInstance instance : List.of(first, second)) {
                await().atMost(AFTER_AN_OUTAGE)
                        .untilAsserted(
                                () -> assertThat(instance.figures().topKeys()).isEqualTo(expected));
            }
            assertThat(redis.send("PTTL", prefix + ":{%statistics}:keys:quotes"))
                    .asInstanceOf(LONG)
                    .isBetween(1L, 90_000L);
        }
    }

    @Test
    void longKeysOfOneLimitHideNeitherItsMostRejectedOnesNorThoseOfOtherLimits() {
        String[] properties = {"ratelimit.top-keys.enabled=true", "ratelimit.limits.logins.rate=1/h"};
        try (CountingInstance first = new CountingInstance(redis.port(), prefix, properties);
                CountingInstance second = new CountingInstance(redis.port(), prefix, properties)) {
            String padding = "語".repeat(120);
            for (int i = 0; i < 60; i++) {
                callLogins(first, padding + i, 3);
            }
            callLogins(first, "alice", 9);
            first.call("bob", 11);
            await().atMost(AFTER_AN_OUTAGE)
                    .untilAsserted(
                            () -> assertThat(second.figures().topKeys()).containsExactly(new KeyCount("bob", 1, 0)));
            await().untilAsserted(() ->
                    assertThat(second.figures("logins").topKeys()).hasSize(20).startsWith(new KeyCount("alice", 8, 0)));
        }
    }

    private static void callLogins(CountingInstance instance, String key, int calls) {
        for (int i = 0; i < calls; i++) {
            instance.limiter("logins").tryAcquire(key);
        }
    }

    @Test
    void whatCannotBeReadIsLeftOut() {
        String enabled = "ratelimit.top-keys.enabled=true";
        try (CountingInstance first = new CountingInstance(redis.port(), prefix, enabled)) {
            first.call("alice", 12);
            awaitLastMinute(first, counts(10, 2));
            String instances = prefix + ":{%statistics}:instances";
            redis.send("HSET", instances, "a", "99999999999999999 1 99999999999999999999 shared - name\n");
            redis.send("HSET", instances, "b", "99999999999999999 1 1 shared - %zz\n");
            String keys = prefix + ":{%statistics}:keys:quotes";
            redis.send("HSET", keys, "a", "99999999999999999 0\n%zz 5 5\n");
            redis.send("HSET", keys, "b", "99999999999999999 x");
            Figures figures = first.figures();
            assertThat(figures.ofAllInstances()).isTrue();
            assertThat(figures.instances()).hasSize(1);
            assertThat(figures.topKeys()).containsExactly(new KeyCount("alice", 2, 0));
        }
    }

    @Test
    void instanceThatIsKilledIsNotHeardUntilOneHasItsName() {
        try (CountingInstance first = start();
                CountingInstance second = start()) {
            await().atMost(SOON).until(() -> first.figures().instances().size() == 2);
            second.kill();
            String name = first.figures().instances().get(0).name();
            noteAsKilledAWhileAgo("another");
            await().atMost(SOON)
                    .untilAsserted(() -> assertThat(first.figures().instances())
                            .extracting(
                                    InstanceFigures::name,
                                    instance -> instance.state().state())
                            .containsExactly(tuple(name, "shared"), tuple("another", "not-heard")));
            noteAsKilledAWhileAgo(URLEncoder.encode(name, StandardCharsets.UTF_8));
            await().atMost(SOON).until(() -> first.figures().instances().size() == 1);
        }
    }

    private void noteAsKilledAWhileAgo(String name) {
        String instances = prefix + ":{%statistics}:instances";
        List<?> notes = (List<?>) redis.send("HGETALL", instances);
        for (int i = 0; i < notes.size(); i += 2) {
            String[] note = text(notes.get(i + 1)).split(" ", 2);
            if (!notes.get(i).equals("%count")) {
                redis.send(
                        "HSET",
                        instances,
                        notes.get(i),
                        (Long.parseLong(note[0]) - 31_000_000) + " "
                                + note[1].replaceFirst("^(\\S+ \\S+ \\S+ \\S+) \\S+", "$1 " + name));
            }
        }
    }

    @Test
    void withoutPermissionEachInstanceShowsItsOwn() {
        redis.send("ACL", "SETUSER", "poor", "reset", "on", ">secret", "~*", "&*", "+@all", "-hset");
        try (LogRecorder log = new LogRecorder("io.ratelimit");
                CountingInstance poor = new CountingInstance(
                        redis.port(), prefix, "ratelimit.redis.username=poor", "ratelimit.redis.password=secret")) {
            poor.call("alice", 3);
            await().atMost(SOON)
                    .until(() ->
                            log.text().contains("Figures of rate limits cannot be shared with the other instances"));
            assertThat(poor.figures().byInstance("quotes").values()).containsExactly(counts(3, 0));
        }
    }

    @Test
    void figuresAreSharedOverALongWay() {
        try (FaultyProxy proxy = new FaultyProxy(redis.port(), Duration.ofMillis(10));
                CountingInstance far = new CountingInstance(proxy.port(), prefix);
                CountingInstance near = start()) {
            far.call("alice", 3);
            awaitLastMinute(near, counts(3, 0));
            awaitLastMinute(far, counts(3, 0));
        }
    }

    @Test
    void figuresAreSharedOnACluster() {
        try (RedisCluster cluster = RedisCluster.undisturbed()) {
            String nodes = "ratelimit.redis.cluster.nodes=127.0.0.1:"
                    + cluster.master(0).port();
            try (CountingInstance first = new CountingInstance(nodes);
                    CountingInstance second = new CountingInstance(nodes)) {
                first.call("alice", 3);
                awaitLastMinute(second, counts(3, 0));
            }
        }
    }

    private static String text(Object reply) {
        return reply instanceof byte[] bytes ? new String(bytes, StandardCharsets.UTF_8) : String.valueOf(reply);
    }

    @Test
    void survivesThatRedisForgetsScriptsAndFigures() {
        try (CountingInstance first = start()) {
            first.call("alice", 3);
            awaitLastMinute(first, counts(3, 0));
            redis.forgetScripts();
            first.call("alice", 1);
            awaitLastMinute(first, counts(4, 0));
            redis.send("FLUSHALL");
            first.call("alice", 2);
            awaitLastMinute(first, counts(2, 0));
            assertThat(first.figures().instances()).hasSize(1);
        }
    }

    private CountingInstance start() {
        return new CountingInstance(redis.port(), prefix);
    }

    private static void awaitLastMinute(CountingInstance instance, CallCounts counts) {
        await().atMost(SOON)
                .untilAsserted(() -> assertThat(instance.lastMinute()).isEqualTo(counts));
    }

    private static long sum(Figures figures) {
        long[] allowed = figures.history("quotes").allowed();
        return allowed == null ? 0 : LongStream.of(allowed).sum();
    }

    private static CallCounts counts(long allowed, long rejected) {
        return new CallCounts(allowed, rejected, 0, 0);
    }
}
