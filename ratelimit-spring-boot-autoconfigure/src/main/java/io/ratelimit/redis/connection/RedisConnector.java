package io.ratelimit.redis.connection;

import io.ratelimit.redis.RateLimitScriptExecutor;
import io.ratelimit.redis.RedisTopology;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.context.SmartLifecycle;
import org.springframework.data.redis.connection.RedisConfiguration;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.core.script.RedisScript;
import org.springframework.util.ClassUtils;

/**
 * The default script executor: over a connection of its own where the driver is Lettuce, else over the user's. Connects in
 * the background, and does not mind if Redis is not there yet.
 */
public final class RedisConnector implements RateLimitScriptExecutor, SmartLifecycle, DisposableBean {

    /** How long a start waits for the connection, so that the first calls find it. */
    private static final Duration PATIENCE = Duration.ofSeconds(2);

    private static final System.Logger logger = System.getLogger("io.ratelimit.redis");

    private final TemplateScriptExecutor executor;

    /** Known once there is a connection; {@code null}: those of the executor. */
    private final @Nullable RedisTopology servers;

    private final @Nullable DedicatedConnections dedicated;

    private final String address;

    private volatile ConnectionBootstrap connection;

    /**
     * @param users the application's connections
     * @param timeout how long a decision may take at the most
     * @param script the one that decides
     */
    public RedisConnector(RedisConnectionFactory users, Duration timeout, RedisScript<List<Long>> script) {
        RedisConfiguration known =
                isLettuce(users) ? DedicatedConnections.servers((LettuceConnectionFactory) users) : null;
        if (known == null) {
            this.executor = TemplateScriptExecutor.over(users, script);
            this.servers = null;
            this.dedicated = null;
            if (isLettuce(users)) {
                logger.log(
                        Level.WARNING,
                        "Rate limits share the connections of the application, with their timeouts, because it cannot be told"
                                + " which servers they are for");
            }
        } else {
            this.dedicated = DedicatedConnections.like((LettuceConnectionFactory) users, known, timeout);
            DedicatedConnections.Factory own = dedicated.factory();
            this.executor = TemplateScriptExecutor.over(own, script);
            this.servers = own.isClusterAware() ? new LettuceCluster(own) : new LettuceServer(own, executor::prepare);
        }
        this.address = RedisAddress.of(known);
        this.connection = new ConnectionBootstrap(address, this::makeConnection);
    }

    private static boolean isLettuce(RedisConnectionFactory users) {
        return ClassUtils.isPresent("io.lettuce.core.RedisClient", RedisConnector.class.getClassLoader())
                && users instanceof LettuceConnectionFactory;
    }

    private void makeConnection() {
        executor.prepare();
        EvictionPolicyWarning.logIfNeeded(executor);
    }

    /** As {@link #connect(Duration)}, with the patience of a start-up. */
    public boolean connect() {
        return connect(PATIENCE);
    }

    /** Connects; returns when connected, or when that takes longer than the given time: whether it is. */
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

    /** Closes the connections, as the application's are closed. */
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

    /** That of the application's connections: started before, and stopped after what decides. */
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
