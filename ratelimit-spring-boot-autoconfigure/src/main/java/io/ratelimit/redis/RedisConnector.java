package io.ratelimit.redis;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletionStage;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.core.NestedExceptionUtils;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.util.ClassUtils;

/**
 * The default script executor: over a connection of its own where the driver is Lettuce, else over the user's. Connects
 * when the application starts, and does not mind if Redis is not there yet.
 */
public final class RedisConnector implements RateLimitScriptExecutor, DisposableBean {

    private static final Log logger = LogFactory.getLog(RedisConnector.class);

    /** A driver's first commands in a cold JVM can take longer than its later ones may. */
    private static final int ATTEMPTS = 5;

    private static final Duration PATIENCE = Duration.ofSeconds(2);

    private final TemplateScriptExecutor executor;

    private final AutoCloseable ownConnections;

    /**
     * @param users the application's connections
     * @param timeout how long a decision may take at the most; bounds only a Lettuce driver
     */
    public RedisConnector(RedisConnectionFactory users, Duration timeout) {
        if (isLettuce(users) && BoundedConnections.isBoundable(users)) {
            LettuceConnectionFactory own = BoundedConnections.copyOf((LettuceConnectionFactory) users, timeout);
            this.executor = TemplateScriptExecutor.over(own, RateLimitScript.load());
            this.ownConnections = own::destroy;
        } else {
            logger.warn("ratelimit.redis.timeout does not bound "
                    + users.getClass().getName() + ": its own timeouts apply to the decisions of rate limits");
            this.executor = TemplateScriptExecutor.over(users, RateLimitScript.load());
            this.ownConnections = () -> {};
        }
    }

    private static boolean isLettuce(RedisConnectionFactory users) {
        return ClassUtils.isPresent("io.lettuce.core.RedisClient", RedisConnector.class.getClassLoader())
                && users instanceof LettuceConnectionFactory;
    }

    /** Connects in the background; returns when connected, or when that takes too long to wait for. */
    public void connect() {
        Thread connecting = new Thread(this::prepare, "ratelimit-connect");
        connecting.setDaemon(true);
        connecting.start();
        try {
            connecting.join(PATIENCE.toMillis());
        } catch (InterruptedException ex) {
            Thread.currentThread().interrupt();
        }
    }

    private void prepare() {
        RuntimeException failure = prepareOnce();
        for (int attempt = 1; failure != null && attempt < ATTEMPTS; attempt++) {
            failure = prepareOnce();
        }
        if (failure == null) {
            return;
        }
        logger.warn("Redis is not there yet: rate limits go by ratelimit.on-store-failure until it is ("
                + NestedExceptionUtils.getMostSpecificCause(failure).getMessage() + ")");
        logger.debug("Redis is not there yet", failure);
    }

    private @Nullable RuntimeException prepareOnce() {
        try {
            executor.prepare();
            return null;
        } catch (RuntimeException ex) {
            return ex;
        }
    }

    @Override
    public List<Long> execute(List<byte[]> keys, byte[][] arguments) {
        return executor.execute(keys, arguments);
    }

    @Override
    public CompletionStage<List<Long>> executeAsync(List<byte[]> keys, byte[][] arguments) {
        return executor.executeAsync(keys, arguments);
    }

    @Override
    public void delete(byte[] key) {
        executor.delete(key);
    }

    @Override
    public void destroy() throws Exception {
        ownConnections.close();
    }
}
