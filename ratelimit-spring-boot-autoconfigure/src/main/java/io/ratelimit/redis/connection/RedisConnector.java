package io.ratelimit.redis.connection;

import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionStage;
import java.util.function.BooleanSupplier;
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
public final class RedisConnector implements RateLimitScriptExecutor, RedisTopology, SmartLifecycle, DisposableBean {

    /** How long a start waits for the connection, so that the first calls find it. */
    private static final Duration PATIENCE = Duration.ofSeconds(2);

    private static final System.Logger logger = System.getLogger("io.ratelimit.redis");

    private final ConnectingExecutor executor;

    private final RedisTopology servers;

    private final @Nullable DedicatedConnections dedicated;

    /** Lettuce knows it before there is a connection. */
    private final BooleanSupplier clustered;

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
            this.servers = RedisTopology.ONE;
            this.dedicated = null;
            this.clustered = executor::isClustered;
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
            this.clustered = own::isClusterAware;
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
    public boolean isClustered() {
        return clustered.getAsBoolean();
    }

    @Override
    public String of(byte[] key) {
        return connection.isMade() ? servers.of(key) : REDIS;
    }

    @Override
    public Map<String, String> tags() {
        return connection.isMade() ? servers.tags() : RedisTopology.ONE.tags();
    }

    @Override
    public void renew(String server) {
        if (connection.isMade()) {
            servers.renew(server);
        }
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
