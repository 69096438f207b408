package io.ratelimit.redis.connection;

import io.ratelimit.redis.RateLimitScriptExecutor;
import io.ratelimit.redis.RedisClock;
import io.ratelimit.redis.RedisTopology;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.function.LongSupplier;

/**
 * Adds the time of this instance to the arguments of each run, as scripts of {@link RedisClock#INSTANCE} need it.
 *
 * @param micros returns the microseconds of the epoch
 */
public record InstanceClockExecutor(RateLimitScriptExecutor executor, LongSupplier micros)
        implements RateLimitScriptExecutor {

    /** Returns the executor as scripts of the clock need it. */
    public static RateLimitScriptExecutor of(RedisClock clock, RateLimitScriptExecutor executor) {
        return clock == RedisClock.SERVER ? executor : new InstanceClockExecutor(executor, InstanceClockExecutor::now);
    }

    /** Returns the microseconds of the epoch. */
    static long now() {
        return ChronoUnit.MICROS.between(Instant.EPOCH, Instant.now());
    }

    @Override
    public CompletionStage<List<Long>> execute(List<byte[]> keys, byte[][] arguments) {
        byte[][] timed = Arrays.copyOf(arguments, arguments.length + 1);
        timed[arguments.length] = Long.toString(micros.getAsLong()).getBytes(StandardCharsets.US_ASCII);
        return executor.execute(keys, timed);
    }

    @Override
    public RedisTopology topology() {
        return executor.topology();
    }
}
