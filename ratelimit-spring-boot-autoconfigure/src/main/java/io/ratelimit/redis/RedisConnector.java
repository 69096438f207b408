package io.ratelimit.redis;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionStage;
import java.util.function.BooleanSupplier;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.util.ClassUtils;

/**
 * The default script executor: over a connection of its own where the driver is Lettuce, else over the user's. Connects in
 * the background, and does not mind if Redis is not there yet.
 */
public final class RedisConnector implements RateLimitScriptExecutor, Servers, DisposableBean {

    /** How long the start-up waits for the connection, so that the first calls find it. */
    private static final Duration STARTUP = Duration.ofSeconds(2);

    private final ConnectingExecutor executor;

    private final Servers servers;

    private final FirstConnection connection;

    private final AutoCloseable ownConnections;

    /** Lettuce knows it before there is a connection. */
    private final BooleanSupplier clustered;

    /**
     * @param users the application's connections
     * @param timeout how long a decision may take at the most
     */
    public RedisConnector(RedisConnectionFactory users, Duration timeout) {
        if (isLettuce(users) && OwnConnections.arePossible(users)) {
            OwnConnections connections = OwnConnections.like((LettuceConnectionFactory) users, timeout);
            OwnConnections.Factory own = connections.factory();
            this.executor = TemplateScriptExecutor.over(own, RateLimitScript.load());
            this.servers = own.isClusterAware() ? new LettuceCluster(own) : new LettuceServer(own, executor::prepare);
            this.ownConnections = connections;
            this.clustered = own::isClusterAware;
        } else {
            this.executor = TemplateScriptExecutor.over(users, RateLimitScript.load());
            this.servers = Servers.ONE;
            this.ownConnections = () -> {};
            this.clustered = executor::isClustered;
        }
        this.connection = new FirstConnection(this::makeConnection);
    }

    private static boolean isLettuce(RedisConnectionFactory users) {
        return ClassUtils.isPresent("io.lettuce.core.RedisClient", RedisConnector.class.getClassLoader())
                && users instanceof LettuceConnectionFactory;
    }

    private void makeConnection() {
        executor.prepare();
        EvictionWarning.logIfNeeded(executor);
    }

    /** Connects; returns when connected, or when that takes too long to wait for: whether it is. */
    public boolean connect() {
        connection.await(STARTUP);
        return connection.isMade();
    }

    @Override
    public CompletionStage<List<Long>> execute(List<byte[]> keys, byte[][] arguments) {
        return connection.isMade()
                ? executor.execute(keys, arguments)
                : connection.thenRun(() -> executor.execute(keys, arguments));
    }

    @Override
    public CompletionStage<?> delete(byte[] key) {
        return connection.isMade() ? executor.delete(key) : connection.thenRun(() -> executor.delete(key));
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
        return connection.isMade() ? servers.tags() : Servers.ONE.tags();
    }

    @Override
    public void renew(String server) {
        if (connection.isMade()) {
            servers.renew(server);
        }
    }

    @Override
    public void destroy() throws Exception {
        connection.stop();
        ownConnections.close();
    }
}
