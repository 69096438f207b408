package io.ratelimit.redis.connection;

import io.ratelimit.redis.RateLimitLibrary;
import io.ratelimit.redis.RateLimitScriptExecutor;
import io.ratelimit.redis.RedisTopology;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.context.SmartLifecycle;
import org.springframework.data.redis.connection.RedisConfiguration;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.core.script.RedisScript;
import org.springframework.util.ClassUtils;

/**
 * Runs calls on Redis: with Lettuce over a connection of its own, with other drivers over the application's. Connects in
 * the background, so that an application starts without Redis.
 */
public final class RedisConnector implements RateLimitScriptExecutor, SmartLifecycle, DisposableBean {

    /** How long the start-up waits for the connection, so that the first calls find it. */
    private static final Duration START_UP = Duration.ofSeconds(2);

    private static final System.Logger logger = System.getLogger("io.ratelimit.redis");

    private final TemplateScriptExecutor executor;

    private final RedisConnectionFactory connections;

    /** Usable once there is a connection; {@code null}: only the executor knows them. */
    private final @Nullable RedisTopology servers;

    private final @Nullable DedicatedConnections dedicated;

    private final String address;

    private volatile ConnectionBootstrap connection;

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
        this(users, isLettuce(users) ? like((LettuceConnectionFactory) users, timeout) : null, script, library);
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
        this(null, DedicatedConnections.to(servers, client, timeout), script, library);
    }

    private RedisConnector(
            @Nullable RedisConnectionFactory users,
            @Nullable DedicatedConnections dedicated,
            RedisScript<List<Long>> script,
            @Nullable RateLimitLibrary library) {
        this.dedicated = dedicated;
        if (dedicated == null) {
            this.connections = Objects.requireNonNull(users);
            // Not on an event loop: connections of the application may have to connect again, which blocks.
            this.executor = new BlockingScriptExecutor(connections, script);
            this.servers = null;
        } else {
            DedicatedConnections.Factory own = dedicated.factory();
            this.connections = own;
            this.executor = TemplateScriptExecutor.over(own, script, library);
            this.servers = own.isClusterAware() ? new LettuceCluster(own) : oneServer(own);
        }
        this.address = dedicated == null ? RedisAddress.of(connections) : RedisAddress.of(dedicated.servers());
        this.connection = new ConnectionBootstrap(address, this::makeConnection);
    }

    /** Returns the servers for the log, without passwords. */
    public String address() {
        return address;
    }

    /** Returns the connections that the script runs on: of the starter, or else of the application. */
    public RedisConnectionFactory connections() {
        return connections;
    }

    /** Returns connections to the servers of the application's, or {@code null} if those cannot be determined. */
    private static @Nullable DedicatedConnections like(LettuceConnectionFactory users, Duration timeout) {
        RedisConfiguration servers = DedicatedConnections.servers(users);
        if (servers == null) {
            logger.log(
                    Level.WARNING,
                    "Cannot determine the servers of the application's Redis connections (no configuration found in "
                            + users.getClass().getName() + "); sharing these connections and their timeouts");
            return null;
        }
        return DedicatedConnections.like(users, servers, timeout);
    }

    /** Returns the topology of one server, whose new connection resolves the name or asks Sentinel again. */
    private RedisTopology oneServer(DedicatedConnections.Factory own) {
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

    private static boolean isLettuce(RedisConnectionFactory users) {
        return ClassUtils.isPresent("io.lettuce.core.RedisClient", RedisConnector.class.getClassLoader())
                && users instanceof LettuceConnectionFactory;
    }

    private void makeConnection() {
        if (dedicated != null) {
            dedicated.factory().connect();
        }
        executor.prepare();
        EvictionPolicyWarning.logIfNeeded(executor, address);
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
                ? executor.execute(keys, arguments)
                : connecting.thenRun(() -> executor.execute(keys, arguments));
    }

    @Override
    public CompletionStage<?> delete(byte[] key) {
        ConnectionBootstrap connecting = connection;
        return connecting.isMade() ? executor.delete(key) : connecting.thenRun(() -> executor.delete(key));
    }

    @Override
    public RedisTopology topology() {
        if (servers == null) {
            return executor.topology();
        }
        if (connection.isMade()) {
            return servers;
        }
        return servers.isClustered() ? RedisTopology.UNKNOWN_CLUSTER : RedisTopology.ONE_SERVER;
    }

    /** Connects again after a {@link #stop}. */
    @Override
    public synchronized void start() {
        if (dedicated != null && !dedicated.factory().isRunning()) {
            dedicated.factory().start();
            connection = new ConnectionBootstrap(address, this::makeConnection);
            connect();
        }
    }

    /** Closes the connections when the application's are closed. */
    @Override
    public synchronized void stop() {
        if (dedicated != null) {
            connection.stop();
            dedicated.factory().stop();
        }
    }

    @Override
    public boolean isRunning() {
        return dedicated == null || dedicated.factory().isRunning();
    }

    /** Returns the phase of the application's connections: started before the store, and stopped after it. */
    @Override
    public int getPhase() {
        return 0;
    }

    @Override
    public void destroy() {
        connection.stop();
        if (dedicated != null) {
            dedicated.close();
        }
    }
}
