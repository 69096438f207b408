package io.ratelimit.redis;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.function.BooleanSupplier;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.util.ClassUtils;

/**
 * The default script executor: over a connection of its own where the driver is Lettuce, else over the user's. Connects in
 * the background, and does not mind if Redis is not there yet.
 */
public final class RedisConnector implements RateLimitScriptExecutor, DisposableBean {

    private static final Log logger = LogFactory.getLog(RedisConnector.class);

    /** How long the start-up waits for the connection, so that the first calls find it. */
    private static final Duration STARTUP = Duration.ofSeconds(2);

    private final Duration timeout;

    private final TemplateScriptExecutor executor;

    private final FirstConnection connection;

    private final AutoCloseable ownConnections;

    /** Lettuce knows it before there is a connection. */
    private final BooleanSupplier clustered;

    /**
     * @param users the application's connections
     * @param timeout how long a decision may take at the most; bounds only a Lettuce driver
     */
    public RedisConnector(RedisConnectionFactory users, Duration timeout) {
        this.timeout = timeout;
        if (isLettuce(users) && BoundedConnections.isBoundable(users)) {
            LettuceConnectionFactory own = BoundedConnections.copyOf((LettuceConnectionFactory) users, timeout);
            this.executor = TemplateScriptExecutor.over(own, RateLimitScript.load());
            this.ownConnections = own::destroy;
            this.clustered = own::isClusterAware;
        } else {
            logger.warn("ratelimit.redis.timeout does not bound "
                    + users.getClass().getName() + ": its own timeouts apply to the decisions of rate limits");
            this.executor = TemplateScriptExecutor.over(users, RateLimitScript.load());
            this.ownConnections = () -> {};
            this.clustered = executor::isClustered;
        }
        this.connection = new FirstConnection(executor::prepare);
    }

    private static boolean isLettuce(RedisConnectionFactory users) {
        return ClassUtils.isPresent("io.lettuce.core.RedisClient", RedisConnector.class.getClassLoader())
                && users instanceof LettuceConnectionFactory;
    }

    /** Connects; returns when connected, or when that takes too long to wait for. */
    public void connect() {
        connection.await(STARTUP);
    }

    @Override
    public List<Long> execute(List<byte[]> keys, byte[][] arguments) {
        if (!connection.isMade()) {
            connection.require(timeout);
        }
        return executor.execute(keys, arguments);
    }

    @Override
    public CompletionStage<List<Long>> executeAsync(List<byte[]> keys, byte[][] arguments) {
        return connection.isMade()
                ? executor.executeAsync(keys, arguments)
                : connection.thenRun(
                        () -> executor.executeAsync(keys, arguments).toCompletableFuture(), timeout);
    }

    @Override
    public boolean isClustered() {
        return clustered.getAsBoolean();
    }

    @Override
    public void delete(byte[] key) {
        if (!connection.isMade()) {
            connection.require(timeout);
        }
        executor.delete(key);
    }

    @Override
    public void destroy() throws Exception {
        connection.stop();
        ownConnections.close();
    }
}
