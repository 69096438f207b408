package io.ratelimit.autoconfigure;

import io.ratelimit.internal.concurrent.BoundedWait;
import io.ratelimit.internal.concurrent.DaemonThreads;
import io.ratelimit.redis.connection.RedisConnector;
import io.ratelimit.redis.door.GuardedRedis;
import io.ratelimit.spi.RateLimitStore;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.springframework.beans.factory.BeanFactoryInitializer;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.beans.factory.ListableBeanFactory;

/**
 * Holds the connections to further Redis servers, which limits name. They are no beans of their own, so that nothing takes one of
 * them for the first Redis.
 *
 * @param byId by their names in lower case without dashes and underscores; usually empty
 */
record RedisServers(Map<String, Server> byId) implements BeanFactoryInitializer<ListableBeanFactory>, DisposableBean {

    private static final System.Logger logger = System.getLogger("io.ratelimit.redis");

    /** The time that a start-up waits for connections. They are made while the other beans are. */
    private static final Duration START_UP = Duration.ofSeconds(2);

    /** Returns the names as they are written, that of the first Redis included; empty if there is no other. */
    List<String> names() {
        List<String> names = new ArrayList<>();
        if (!byId.isEmpty()) {
            names.add(RedisServerProperties.DEFAULT);
            byId.values().forEach(server -> names.add(server.name));
        }
        return names;
    }

    /** Returns the longest time for a decision of any server, not less than the given one. */
    Duration longestTimeout(Duration ofFirst) {
        return byId.values().stream()
                .map(server -> server.properties.timeout())
                .reduce(ofFirst, (one, other) -> one.compareTo(other) < 0 ? other : one);
    }

    /** Connects before the beans of the application are created. */
    @Override
    public void initialize(ListableBeanFactory beans) {
        byId.values().forEach(server -> {
            try {
                server.connector.connectInBackground();
            } catch (RuntimeException ex) {
                logger.log(Level.DEBUG, "Redis '" + server.name + "': the first call connects", ex);
            }
        });
    }

    /** Describes the servers for the log. */
    String describe() {
        return byId.values().stream()
                .map(server -> "; those with redis '" + server.name + "' at " + server.connector.address() + ", under '"
                        + server.properties.keyPrefix() + "'")
                .collect(Collectors.joining());
    }

    /** Waits until the first attempts to connect have ended, for all servers together as long as a start-up may. */
    void await() {
        long end = System.nanoTime() + START_UP.toNanos();
        byId.values()
                .forEach(server -> server.connector.connect(Duration.ofNanos(Math.max(0, end - System.nanoTime()))));
    }

    void start() {
        sideBySide(Server::start);
    }

    /** Expects failures from now on, and closes the connections. */
    void stop() {
        sideBySide(Server::stop);
    }

    @Override
    public void destroy() {
        sideBySide(Server::destroy);
    }

    /** Waits for servers that do not answer at the same time. */
    private void sideBySide(Consumer<Server> task) {
        if (byId.isEmpty()) {
            return;
        }
        Executor threads = DaemonThreads.create("ratelimit-servers", byId.size(), byId.size());
        BoundedWait.get(
                CompletableFuture.allOf(byId.values().stream()
                        .map(server -> CompletableFuture.runAsync(() -> task.accept(server), threads))
                        .toArray(CompletableFuture[]::new)),
                RateLimitStore.LONGEST);
    }

    /** One server. */
    static class Server {

        private final String name;

        private final RedisStoreProperties properties;

        private final RedisConnector connector;

        private final GuardedRedis guarded;

        Server(String name, RedisStoreProperties properties, RedisConnector connector) {
            this.name = name;
            this.properties = properties;
            this.connector = connector;
            this.guarded = new GuardedRedis(connector, properties.timeout(), properties.keyPrefix());
        }

        void start() {
            connector.start();
            guarded.start();
        }

        void stop() {
            guarded.stop();
            connector.stop();
        }

        void destroy() {
            guarded.destroy();
            connector.destroy();
        }

        /** Returns the name as it is written. */
        String name() {
            return name;
        }

        RedisStoreProperties properties() {
            return properties;
        }

        GuardedRedis guarded() {
            return guarded;
        }
    }
}
