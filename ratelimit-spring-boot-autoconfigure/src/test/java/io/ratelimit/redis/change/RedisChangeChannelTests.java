package io.ratelimit.redis.change;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.change.ChangeChannel.Subscriber;
import io.ratelimit.redis.RateLimitLibrary;
import io.ratelimit.redis.RateLimitScript;
import io.ratelimit.redis.RedisUnderTest;
import io.ratelimit.redis.connection.RedisConnector;
import io.ratelimit.testing.LogRecorder;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

@Timeout(180)
class RedisChangeChannelTests {

    @RegisterExtension
    static final RedisUnderTest redis = new RedisUnderTest();

    private final RedisConnector connector = new RedisConnector(
            redis.connections(), Duration.ofSeconds(20), RateLimitScript.load(), RateLimitLibrary.load());

    private final List<RedisChangeChannel> channels = new ArrayList<>();

    private final String prefix = RedisUnderTest.newPrefix();

    @AfterEach
    void stop() {
        channels.forEach(RedisChangeChannel::destroy);
        connector.destroy();
    }

    private RedisChangeChannel channel(Subscriber... subscribers) throws Exception {
        RedisChangeChannel channel = new RedisChangeChannel(connector, prefix);
        channels.add(channel);
        CountDownLatch connected = new CountDownLatch(1);
        for (Subscriber subscriber : subscribers) {
            channel.subscribe("topic", subscriber);
        }
        channel.subscribe("connected", new Subscriber() {

            @Override
            public void onMessage(String message) {}

            @Override
            public void onConnect() {
                connected.countDown();
            }
        });
        channel.start();
        assertThat(connected.await(60, TimeUnit.SECONDS)).isTrue();
        return channel;
    }

    @Test
    void subscriberThatThrowsAnErrorKeepsNothingFromOthers() throws Exception {
        connector.connect();
        BlockingQueue<String> received = new LinkedBlockingQueue<>();
        Subscriber broken = message -> {
            throw new NoClassDefFoundError(message);
        };
        try (LogRecorder log = new LogRecorder("io.ratelimit.redis")) {
            var unused = channel(broken, received::add);
            RedisChangeChannel sender = channel();
            for (String message : List.of("one", "two")) {
                sender.send("topic", message);
                assertThat(received.poll(60, TimeUnit.SECONDS)).isEqualTo(message);
            }
            assertThat(log.lines().stream().filter(line -> line.contains("A message about a change")))
                    .hasSize(1);
        }
    }
}
