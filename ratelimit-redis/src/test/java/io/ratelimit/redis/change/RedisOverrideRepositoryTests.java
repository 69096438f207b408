package io.ratelimit.redis.change;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.RateLimitAdmin;
import io.ratelimit.RateLimitOverride;
import io.ratelimit.internal.change.ChangeChannel.Subscriber;
import io.ratelimit.internal.change.OverrideSnapshot;
import io.ratelimit.internal.change.OverrideSnapshot.Result;
import io.ratelimit.internal.change.OverrideSynchronizer;
import io.ratelimit.internal.concurrent.BoundedWait;
import io.ratelimit.redis.RateLimitLibrary;
import io.ratelimit.redis.RateLimitScript;
import io.ratelimit.redis.RedisUnderTest;
import io.ratelimit.redis.SimulatedServer;
import io.ratelimit.redis.connection.BackgroundCommands;
import io.ratelimit.redis.connection.RedisConnector;
import io.ratelimit.testing.redis.RedisServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.data.redis.core.script.RedisScript;

/** What the script that changes overrides tells other instances. */
@Timeout(180)
class RedisOverrideRepositoryTests {

    @RegisterExtension
    static final RedisUnderTest redis = new RedisUnderTest();

    private static final long HOUR = Duration.ofHours(1).toNanos() / 1_000;

    private static final RateLimitOverride OVERRIDE =
            RateLimitOverride.builder().capacity(5L).build();

    private final RedisConnector connector = new RedisConnector(
            redis.connections(), Duration.ofSeconds(20), RateLimitScript.load(), RateLimitLibrary.load());

    private final String prefix = RedisUnderTest.newPrefix();

    private final List<RedisChangeChannel> channels = new ArrayList<>();

    @AfterEach
    void stop() {
        channels.forEach(RedisChangeChannel::destroy);
        connector.destroy();
    }

    private RedisChangeChannel channel(BlockingQueue<String> received) throws InterruptedException {
        RedisChangeChannel channel = new RedisChangeChannel(connector, prefix);
        channels.add(channel);
        CountDownLatch connected = new CountDownLatch(1);
        channel.subscribe(OverrideSynchronizer.TOPIC, new Subscriber() {

            @Override
            public void onMessage(String message) {
                received.add(message);
            }

            @Override
            public void onConnect() {
                connected.countDown();
            }
        });
        channel.start();
        assertThat(connected.await(60, TimeUnit.SECONDS)).isTrue();
        return channel;
    }

    private static OverrideSnapshot write(
            RedisOverrideRepository overrides, String id, @Nullable RateLimitOverride next, long expected) {
        return BoundedWait.get(overrides.write(id, next, "alice", expected), Duration.ofSeconds(20));
    }

    @Test
    void changeIsPublishedToOtherInstancesAlone() throws Exception {
        assertThat(connector.connect(Duration.ofSeconds(60))).isTrue();
        BlockingQueue<String> here = new LinkedBlockingQueue<>();
        BlockingQueue<String> there = new LinkedBlockingQueue<>();
        RedisOverrideRepository overrides = RedisOverrideRepository.of(connector, prefix, channel(here));
        var unused = channel(there);
        assertThat(write(overrides, "quotes", OVERRIDE, RateLimitAdmin.ANY_VERSION)
                        .result())
                .isEqualTo(Result.CHANGED);
        assertThat(there.poll(60, TimeUnit.SECONDS)).isEqualTo("quotes");
        assertThat(write(overrides, "quotes", OVERRIDE, 1).result()).isEqualTo(Result.CONFLICT);
        assertThat(write(overrides, "others", null, RateLimitAdmin.ANY_VERSION).result())
                .isEqualTo(Result.UNCHANGED);
        assertThat(write(overrides, "last", OVERRIDE, RateLimitAdmin.ANY_VERSION)
                        .overrides())
                .containsOnlyKeys("quotes", "last");
        assertThat(there.poll(60, TimeUnit.SECONDS)).isEqualTo("last");
        assertThat(here).isEmpty();
    }

    /** What another override's end leaves to be removed does not hide the others where nothing can be written. */
    @Test
    void overridesAreReadWhereNothingCanBeWrittenAfterOneHasEnded() {
        try (RedisServer server = new RedisServer()) {
            StringRedisTemplate template = new StringRedisTemplate(server.connections());
            RedisScript<String> script = BackgroundCommands.script("overrides.lua", String.class);
            RedisOverrideRepository overrides = new RedisOverrideRepository(
                    arguments -> CompletableFuture.completedFuture(
                            template.execute(script, List.of(prefix), arguments.toArray())),
                    null);
            write(overrides, "quotes", OVERRIDE, RateLimitAdmin.ANY_VERSION);
            RateLimitOverride ended = RateLimitOverride.builder()
                    .capacity(9L)
                    .duration(Duration.ofNanos(1_000))
                    .build();
            write(overrides, "ended", ended, RateLimitAdmin.ANY_VERSION);
            server.fill();
            assertThat(read(overrides).overrides()).containsOnlyKeys("quotes");
            server.drain();
            server.demote();
            assertThat(read(overrides).overrides()).containsOnlyKeys("quotes");
            assertThat(read(overrides).ended()).isZero();
            server.promote();
            assertThat(read(overrides).ended()).isOne();
            assertThat(read(overrides).ended()).isZero();
        }
    }

    @Test
    void clockThatIsSetBackProlongsNoOverrideBeyondItsDuration() {
        SimulatedServer server = new SimulatedServer(redis.connections());
        AtomicLong clock = new AtomicLong(1_795_251_352_713_710L);
        RedisOverrideRepository overrides = new RedisOverrideRepository(
                arguments -> CompletableFuture.completedFuture(server.overrides(clock.get(), arguments)), null);
        RateLimitOverride hour = RateLimitOverride.builder()
                .capacity(9L)
                .duration(Duration.ofHours(1))
                .build();
        write(overrides, "quotes", hour, RateLimitAdmin.ANY_VERSION);
        write(overrides, "lasting", OVERRIDE, RateLimitAdmin.ANY_VERSION);
        clock.addAndGet(-24 * HOUR);
        assertThat(read(overrides).overrides().get("quotes").endMicros()).isEqualTo(clock.get() + HOUR);
        write(overrides, "later", hour, RateLimitAdmin.ANY_VERSION);
        clock.addAndGet(HOUR - 1);
        assertThat(read(overrides).overrides()).containsOnlyKeys("quotes", "lasting", "later");
        clock.addAndGet(1);
        assertThat(read(overrides).overrides()).containsOnlyKeys("lasting");
    }

    private static OverrideSnapshot read(RedisOverrideRepository overrides) {
        return BoundedWait.get(overrides.read(), Duration.ofSeconds(20));
    }
}
