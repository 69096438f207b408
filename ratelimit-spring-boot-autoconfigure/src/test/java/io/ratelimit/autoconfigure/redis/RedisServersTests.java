package io.ratelimit.autoconfigure.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.ratelimit.redis.RateLimitScript;
import io.ratelimit.redis.connection.RedisConnector;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.source.MapConfigurationPropertySource;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

@Timeout(180)
class RedisServersTests {

    private static final RedisStoreProperties PROPERTIES = new Binder(
                    new MapConfigurationPropertySource(Map.of("redis.timeout", "1s")))
            .bind("redis", RedisStoreProperties.class)
            .get();

    private final CountDownLatch underWay = new CountDownLatch(2);

    private final List<Server> created = new ArrayList<>();

    @AfterEach
    void destroy() {
        created.forEach(Server::destroyNow);
    }

    static Stream<Arguments> steps() {
        return Stream.of(
                step("start", RedisServers::start),
                step("stop", RedisServers::stop),
                step("destroy", RedisServers::destroy));
    }

    private static Arguments step(String name, Consumer<RedisServers> step) {
        return Arguments.argumentSet(name, step);
    }

    /** A server that does not answer keeps each of them for a while. */
    @ParameterizedTest
    @MethodSource("steps")
    void serversTakeEachStepSideBySide(Consumer<RedisServers> step) {
        step.accept(servers(List.of("eu", "us"), this::awaitOther));
        assertThat(underWay.getCount()).isZero();
    }

    @Test
    void failureOfAServerIsThrown() {
        RedisServers servers = servers(List.of("eu", "us"), server -> {
            if (server.equals("eu")) {
                throw new IllegalStateException("broken");
            }
        });
        assertThatIllegalStateException().isThrownBy(servers::stop).withMessage("broken");
    }

    private void awaitOther(String server) {
        underWay.countDown();
        try {
            assertThat(underWay.await(20, TimeUnit.SECONDS)).isTrue();
        } catch (InterruptedException ex) {
            throw new IllegalStateException(ex);
        }
    }

    private RedisServers servers(List<String> names, Consumer<String> taken) {
        Map<String, RedisServers.Server> servers = new LinkedHashMap<>();
        for (String name : names) {
            Server server = new Server(name, taken);
            created.add(server);
            servers.put(name, server);
        }
        return new RedisServers(servers, null);
    }

    /** A server without connections, whose steps take their time before. */
    private static final class Server extends RedisServers.Server {

        private final Consumer<String> taken;

        Server(String name, Consumer<String> taken) {
            super(
                    name,
                    PROPERTIES,
                    new RedisConnector(
                            new LettuceConnectionFactory(), PROPERTIES.timeout(), RateLimitScript.load(), null));
            this.taken = taken;
        }

        @Override
        void start() {
            taken.accept(name());
            super.start();
        }

        @Override
        void stop() {
            taken.accept(name());
            super.stop();
        }

        @Override
        void destroy() {
            taken.accept(name());
            super.destroy();
        }

        void destroyNow() {
            super.destroy();
        }
    }
}
