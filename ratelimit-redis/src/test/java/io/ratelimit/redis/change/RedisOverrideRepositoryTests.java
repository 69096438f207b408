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
import io.ratelimit.redis.connection.RedisConnector;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What the script that changes overrides tells other instances. */
@Timeout(180)
class RedisOverrideRepositoryTests {

    @RegisterExtension
    static final RedisUnderTest redis = new RedisUnderTest();

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
}
