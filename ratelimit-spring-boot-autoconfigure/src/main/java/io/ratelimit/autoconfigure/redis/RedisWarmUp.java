package io.ratelimit.autoconfigure.redis;

import io.ratelimit.RateLimitAlgorithm;
import io.ratelimit.RateLimitConfigurationException;
import io.ratelimit.autoconfigure.diagnostics.AlgorithmCheck;
import io.ratelimit.internal.concurrent.BoundedWait;
import io.ratelimit.internal.concurrent.DaemonThreads;
import io.ratelimit.internal.limiter.AlgorithmCatalog;
import io.ratelimit.internal.limiter.DecisionWarmUp;
import io.ratelimit.internal.memory.InMemoryRateLimitStore;
import io.ratelimit.internal.store.rejection.RejectionCachingRateLimitStore;
import io.ratelimit.redis.AlgorithmParts;
import io.ratelimit.redis.connection.BackgroundCommands;
import io.ratelimit.redis.connection.InstanceClockExecutor;
import io.ratelimit.redis.connection.RedisConnector;
import io.ratelimit.redis.door.GuardedRedis;
import io.ratelimit.redis.script.AlgorithmMistake;
import io.ratelimit.redis.store.RedisRateLimitStore;
import io.ratelimit.spi.RateLimitStore;
import io.ratelimit.spi.TimeSource;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.springframework.core.NestedExceptionUtils;
import org.springframework.data.redis.core.script.RedisScript;

/**
 * Connects to Redis and warms up the code of decisions, on threads of their own while the other beans are created. At the end,
 * the start-up waits two seconds for it at most. Uses circuit breakers of its own, so that a slow, cold JVM does not count as
 * a failure of the server, and never replaces a connection. A failure does not stop the start-up.
 */
final class RedisWarmUp {

    private static final System.Logger logger = System.getLogger("io.ratelimit.redis");

    private static final Duration MAX_WAIT = Duration.ofSeconds(2);

    /** The maximum time for the connection. The creation of the other beans may take long. */
    private static final Duration MAX_CONNECT = Duration.ofMinutes(1);

    /** The maximum time for one decision. */
    private static final Duration TIMEOUT = Duration.ofMillis(500);

    private static final Duration MAX_CHECK = Duration.ofSeconds(10);

    private static final int BUCKETS = 100;

    /** Not a valid name of a limit, so that no limit has these buckets. */
    private static final String KEY_SUFFIX = ":%warm-up";

    private final RedisConnector connector;

    private final String keyPrefix;

    private final BackgroundCommands commands;

    private volatile CompletableFuture<?> warmUp = CompletableFuture.completedFuture(null);

    private volatile CompletableFuture<?> check = CompletableFuture.completedFuture(null);

    /** Not an interrupt, which would fail the loading of a class. */
    private volatile boolean over;

    private final AlgorithmCatalog algorithms;

    private volatile @Nullable RateLimitConfigurationException mistake;

    RedisWarmUp(RedisConnector connector, String keyPrefix, AlgorithmCatalog algorithms) {
        this.connector = connector;
        this.keyPrefix = keyPrefix;
        this.algorithms = algorithms;
        this.commands = new BackgroundCommands(connector, "checks of algorithms", "ratelimit-algorithm-check", 1, 100);
    }

    /** Starts before the beans of the application are created. */
    void start() {
        try {
            warmUp = CompletableFuture.runAsync(this::warmUp, DaemonThreads.create("ratelimit-warm-up", 1, 1));
            if (!algorithms.isEmpty()) {
                check = CompletableFuture.runAsync(this::checkParts, DaemonThreads.create("ratelimit-check", 1, 1));
            }
        } catch (Throwable ex) {
            endedEarly(ex);
        }
    }

    /** Waits for the end. A mistake in an algorithm stops the start-up if there is a connection. */
    void await() {
        BoundedWait.await(warmUp, MAX_WAIT);
        if (!algorithms.isEmpty() && connector.connect()) {
            BoundedWait.await(check, MAX_CHECK);
            if (!check.isDone()) {
                logger.log(Level.WARNING, "Redis has not answered whether the Lua parts of algorithms are right");
            }
        }
        over = true;
        RateLimitConfigurationException found = mistake;
        if (found != null) {
            throw found;
        }
    }

    void end() {
        over = true;
    }

    private void warmUp() {
        try {
            warmUp(new InMemoryRateLimitStore(TimeSource.monotonic(), BUCKETS));
            if (connector.connect(MAX_CONNECT) && !over) {
                warmUpRedis();
            }
        } catch (Throwable ex) {
            endedEarly(ex);
        }
    }

    /** Also after the start-up, which does not wait for Redis for long. */
    private void checkParts() {
        if (connector.connect(MAX_CONNECT)) {
            algorithms.own().forEach(this::checkPart);
        }
    }

    private void checkPart(RateLimitAlgorithm algorithm) {
        try {
            BoundedWait.get(
                    commands.run(
                            RedisScript.of(AlgorithmParts.checkScript(algorithm), List.class),
                            List.of(keyPrefix + KEY_SUFFIX),
                            List.of(AlgorithmParts.name(algorithm))),
                    MAX_CHECK);
        } catch (RuntimeException ex) {
            String message =
                    String.valueOf(NestedExceptionUtils.getMostSpecificCause(ex).getMessage());
            AlgorithmMistake known = AlgorithmMistake.ofError(message);
            if (known == null) {
                logger.log(
                        Level.WARNING,
                        "Cannot check the Lua part of algorithm ''{0}'' ({1})",
                        algorithm.name(),
                        message);
                return;
            }
            RateLimitConfigurationException found =
                    AlgorithmCheck.inRedis(algorithm, known.what().replaceFirst("(?s),? script: .*", ""));
            if (over) {
                logger.log(Level.ERROR, found.getMessage());
            }
            mistake = found;
        }
    }

    private static void endedEarly(Throwable ex) {
        logger.log(Level.DEBUG, "Warm-up ended early", ex);
    }

    private void warmUpRedis() throws Exception {
        GuardedRedis redis = GuardedRedis.forWarmUp(
                InstanceClockExecutor.of(connector.clock(), connector), TIMEOUT, keyPrefix + KEY_SUFFIX);
        try {
            redis.warmUp(MAX_WAIT);
            warmUp(new RejectionCachingRateLimitStore(new RedisRateLimitStore(redis, keyPrefix + KEY_SUFFIX)));
        } finally {
            redis.destroy();
        }
    }

    private void warmUp(RateLimitStore store) throws Exception {
        int decided = new DecisionWarmUp(store).run(() -> over);
        logger.log(
                Level.DEBUG,
                "Warmed up with " + decided + " decisions of "
                        + store.getClass().getSimpleName());
    }
}
