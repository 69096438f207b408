package io.ratelimit.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.ratelimit.RateLimitExceededException;
import io.ratelimit.RateLimiter;
import io.ratelimit.RateLimiterRegistry;
import io.ratelimit.testing.ChildJvm;
import io.ratelimit.testing.LongRunning;
import io.ratelimit.testing.redis.SharedRedis;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Collection;
import java.util.Collections;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.Timeout.ThreadMode;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.data.redis.core.RedisCallback;

/** An instance in a JVM of its own holds all permits of a bucket, and is killed or stands still. Another one asks for them. */
@Timeout(value = 120, threadMode = ThreadMode.SEPARATE_THREAD)
@LongRunning
class HeldPermitsProcessTests {

    /** A busy machine lets no process stand still for as long. */
    private static final Duration HOLD = Duration.ofSeconds(5);

    @RegisterExtension
    static final RedisUnderTest redis = new RedisUnderTest();

    private final String prefix = RedisUnderTest.newPrefix();

    private final String bucket = prefix + ":{" + HeldPermitsProcess.KEY + "}:exports%held";

    /** What calls of the other instance hold. */
    private final Deque<RateLimiter.Entry> entries = new ArrayDeque<>();

    @TempDir
    private Path logs;

    private AnnotationConfigApplicationContext other;

    private RateLimiter limiter;

    private ChildJvm instance;

    @AfterEach
    void stop() {
        instance.close();
        other.close();
    }

    private void start(int capacity) throws IOException {
        String hold = HOLD.toSeconds() + "s";
        SharedRedis server = SharedRedis.get();
        other = HeldPermitsProcess.start(server.host(), server.port(), prefix, capacity, hold);
        limiter = other.getBean(RateLimiterRegistry.class).get("exports");
        instance = ChildJvm.start(
                HeldPermitsProcess.class,
                logs.resolve("instance"),
                List.of(),
                server.host(),
                "" + server.port(),
                prefix,
                "" + capacity,
                hold);
        assertThat(instance.ask("hold " + capacity)).isEqualTo("" + capacity);
    }

    @Test
    void permitsOfAKilledInstanceAreFreeAfterTheHoldAndNotBefore() throws Exception {
        start(1_000);
        long first = Collections.max(expiries());
        await().atMost(Duration.ofMinutes(1)).until(() -> {
            assertThat(isAdmitted()).isFalse();
            return Collections.min(expiries()) - first > HOLD.toNanos() / 1_000;
        });
        instance.kill();
        takeOneAfterTheOther(1_000);
        assertThat(isAdmitted()).isFalse();
    }

    @Test
    void instanceThatWasStoppedForLongerThanTheHoldIsCountedAgainAndTakesNothingFromOthers() throws Exception {
        start(10);
        instance.stop();
        takeOneAfterTheOther(10);
        instance.resume();
        await().until(() -> instance.ask("lost").equals("10"));
        // The log is written after the permits were counted.
        await().untilAsserted(() -> assertThat(instance.log())
                .containsOnlyOnce(
                        "Permits of running calls had expired or were lost by Redis (10 of the limits 'exports');"
                                + " counting them again, but others may have taken them meanwhile"));
        assertThat(holders()).hasSize(20);
        assertThat(isAdmitted()).isFalse();
        assertThat(instance.ask("end")).isEqualTo("10");
        await().until(() -> holders().size() == 10);
        theOtherHoldsAll();
    }

    /** The renewal and the release come in any order. */
    @Test
    void callsThatEndAsSoonAsTheirInstanceGoesOnTakeNothingFromOthers() throws Exception {
        start(10);
        instance.stop();
        takeOneAfterTheOther(10);
        instance.tell("end");
        instance.resume();
        assertThat(instance.answer()).isEqualTo("10");
        await().until(() -> {
            assertThat(isAdmitted()).isFalse();
            return holders().size() == 10;
        });
        theOtherHoldsAll();
    }

    /** As many as have expired, by the clock of Redis: no permit has two holders. */
    private void takeOneAfterTheOther(int permits) {
        Collection<Long> expiries = expiries();
        assertThat(expiries).hasSize(permits);
        while (entries.size() < permits) {
            await().until(this::isAdmitted);
            long now = now();
            assertThat(expiries.stream().filter(expiry -> expiry <= now)).hasSizeGreaterThanOrEqualTo(entries.size());
        }
    }

    private void theOtherHoldsAll() {
        assertThat(isAdmitted()).isFalse();
        entries.remove().close();
        await().until(this::isAdmitted);
        assertThat(isAdmitted()).isFalse();
        entries.forEach(RateLimiter.Entry::close);
        await().until(() -> !Boolean.TRUE.equals(redis.commands().hasKey(bucket)));
    }

    private boolean isAdmitted() {
        try {
            entries.add(limiter.enter(HeldPermitsProcess.KEY));
            return true;
        } catch (RateLimitExceededException ex) {
            return false;
        }
    }

    private Map<String, String> holders() {
        Map<String, String> fields =
                redis.commands().<String, String>opsForHash().entries(bucket);
        fields.keySet().removeAll(List.of("#", "?"));
        return fields;
    }

    private List<Long> expiries() {
        return holders().values().stream()
                .map(value -> Long.parseLong(value.split(":", -1)[1]))
                .collect(Collectors.toList());
    }

    private static long now() {
        Long micros = redis.commands().execute((RedisCallback<Long>)
                connection -> connection.serverCommands().time(TimeUnit.MICROSECONDS));
        return micros;
    }
}
