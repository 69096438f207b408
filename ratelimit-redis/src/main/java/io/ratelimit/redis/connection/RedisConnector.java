package io.ratelimit.redis.connection;

import io.ratelimit.redis.RateLimitLibrary;
import io.ratelimit.redis.RateLimitScriptExecutor;
import io.ratelimit.redis.RedisClock;
import io.ratelimit.redis.RedisTopology;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.data.redis.connection.RedisConfiguration;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.core.RedisOperations;
import org.springframework.data.redis.core.script.RedisScript;
import org.springframework.util.function.SingletonSupplier;

/**
 * Runs calls on Redis: with Lettuce over a connection of its own, with other drivers over the application's. Connects in
 * the background, so that an application starts without Redis.
 */
public final class RedisConnector implements RateLimitScriptExecutor, DisposableBean {

    /** How long the start-up waits for the connection, so that the first calls find it. */
    private static final Duration START_UP = Duration.ofSeconds(2);

    private static final System.Logger logger = System.getLogger("io.ratelimit.redis");

    /** Made by the thread that connects: loading the classes of Lettuce takes long, and the start-up does not wait for it. */
    private final SingletonSupplier<Driver> driver;

    /** Until there is a connection; {@code null}: only the driver knows. */
    private final @Nullable RedisTopology unconnected;

    private final String address;

    private volatile ConnectionBootstrap connection;

    private volatile RedisClock clock = RedisClock.SERVER;

    /**
     * Uses the servers of the application's connections.
     *
     * @param users the application's connections
     * @param timeout of a decision
     * @param script that decides
     * @param library that decides where Redis has functions; {@code null} = always the script
     */
    public RedisConnector(
            RedisConnectionFactory users,
            Duration timeout,
            RedisScript<List<Long>> script,
            @Nullable RateLimitLibrary library) {
        RedisConfiguration servers = RedisAddress.servers(users);
        this.address = RedisAddress.of(servers);
        if (servers != null && RedisAddress.isLettuce(users)) {
            this.unconnected = unknown(servers);
            this.driver = SingletonSupplier.of(() -> Driver.over(
                    DedicatedConnections.like((LettuceConnectionFactory) users, servers, timeout), script, library));
        } else {
            if (RedisAddress.isLettuce(users)) {
                logger.log(
                        Level.WARNING,
                        "Cannot determine the servers of the application's Redis connections (no getter of "
                                + users.getClass().getName() + " tells the user); sharing these connections and their"
                                + " timeouts");
            }
            this.unconnected = null;
            this.driver = SingletonSupplier.of(() -> Driver.sharing(users, script));
        }
        this.connection = new ConnectionBootstrap(address, this::makeConnection);
    }

    /**
     * Uses servers for rate limits alone. Needs Lettuce.
     *
     * @param servers the servers and the credentials
     * @param client the client's options
     * @param timeout of a decision
     * @param script that decides
     * @param library that decides where Redis has functions; {@code null} = always the script
     */
    public RedisConnector(
            RedisConfiguration servers,
            LettuceClientConfiguration client,
            Duration timeout,
            RedisScript<List<Long>> script,
            @Nullable RateLimitLibrary library) {
        this.address = RedisAddress.of(servers);
        this.unconnected = unknown(servers);
        this.driver = SingletonSupplier.of(
                () -> Driver.over(DedicatedConnections.to(servers, client, timeout), script, library));
        this.connection = new ConnectionBootstrap(address, this::makeConnection);
    }

    private static RedisTopology unknown(RedisConfiguration servers) {
        return RedisConfiguration.isClusterConfiguration(servers)
                ? RedisTopology.UNKNOWN_CLUSTER
                : RedisTopology.ONE_SERVER;
    }

    public RedisConnector by(RedisClock clock) {
        this.clock = clock;
        return this;
    }

    public RedisClock clock() {
        return clock;
    }

    /** Returns the servers for the log, without passwords. */
    public String address() {
        return address;
    }

    /** Returns the connections that the script runs on: of the starter, or else of the application. */
    public RedisConnectionFactory connections() {
        return driver.obtain().connections;
    }

    /** Returns the template for commands beside the script that decides. */
    RedisOperations<String, String> template() {
        return driver.obtain().executor.template();
    }

    private void makeConnection() {
        Driver made = driver.obtain();
        if (made.dedicated != null) {
            made.dedicated.connect();
        }
        made.executor.prepare();
        EvictionPolicyWarning.logIfNeeded(made.executor, address);
    }

    /** Connects, and does not wait. */
    public void connectInBackground() {
        connection.start();
    }

    /** Connects, and waits as long as a start-up may. Returns whether there is a connection. */
    public boolean connect() {
        return connect(START_UP);
    }

    /** Connects, and waits for the given time at most. Returns whether there is a connection. */
    public boolean connect(Duration time) {
        ConnectionBootstrap connecting = connection;
        connecting.await(time);
        return connecting.isMade();
    }

    @Override
    public CompletionStage<List<Long>> execute(List<byte[]> keys, byte[][] arguments) {
        ConnectionBootstrap connecting = connection;
        return connecting.isMade()
                ? driver.obtain().executor.execute(keys, arguments)
                : connecting.thenRun(() -> driver.obtain().executor.execute(keys, arguments));
    }

    @Override
    public RedisTopology topology() {
        return unconnected == null || connection.isMade() ? driver.obtain().topology() : unconnected;
    }

    /** Connects again after a {@link #stop}. */
    public synchronized void start() {
        DedicatedConnections dedicated = driver.obtain().dedicated;
        if (dedicated != null && !dedicated.isRunning()) {
            dedicated.start();
            connection = new ConnectionBootstrap(address, this::makeConnection);
            connect();
        }
    }

    /** Closes the connections, unless they are the application's. */
    public synchronized void stop() {
        DedicatedConnections dedicated = driver.obtain().dedicated;
        if (dedicated != null) {
            connection.stop();
            dedicated.stop();
        }
    }

    @Override
    public void destroy() {
        DedicatedConnections dedicated;
        try {
            // Before the connecting thread is interrupted: that could fail the loading of a class.
            dedicated = driver.obtain().dedicated;
        } finally {
            connection.stop();
        }
        if (dedicated != null) {
            dedicated.destroy();
        }
    }

    /**
     * What uses the classes of the driver.
     *
     * @param dedicated {@code null}: the application's connections are used as they are
     * @param servers usable once there is a connection; {@code null}: only the executor knows them
     */
    private record Driver(
            RedisConnectionFactory connections,
            TemplateScriptExecutor executor,
            @Nullable DedicatedConnections dedicated,
            @Nullable RedisTopology servers) {

        static Driver sharing(RedisConnectionFactory users, RedisScript<List<Long>> script) {
            // Not on an event loop: connections of the application may have to connect again, which blocks.
            return new Driver(users, new TemplateScriptExecutor(users, script), null, null);
        }

        static Driver over(
                DedicatedConnections own, RedisScript<List<Long>> script, @Nullable RateLimitLibrary library) {
            TemplateScriptExecutor executor = new LettuceScriptExecutor(own, own::commands, script, library);
            RedisTopology servers = own.isClusterAware() ? new LettuceCluster(own) : oneServer(own, executor);
            return new Driver(own, executor, own, servers);
        }

        RedisTopology topology() {
            return servers == null ? executor.topology() : servers;
        }

        /** Returns the topology of one server, whose new connection resolves the name or asks Sentinel again. */
        private static RedisTopology oneServer(DedicatedConnections own, TemplateScriptExecutor executor) {
            return new RedisTopology() {

                @Override
                public void reconnect(String server) {
                    own.reconnect();
                    executor.prepare();
                }

                @Override
                public void disconnect(String server) {
                    DedicatedConnections.disconnect(own.current());
                }
            };
        }
    }
}
