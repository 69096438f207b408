package io.ratelimit.redis;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.springframework.dao.DataAccessException;
import org.springframework.data.redis.RedisConnectionFailureException;
import org.springframework.data.redis.connection.RedisClusterConnection;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.RedisSentinelConnection;

/** Blocks every caller that wants a connection until it is let go, without one. */
public final class HangingDriver implements RedisConnectionFactory {

    private final CountDownLatch hanging = new CountDownLatch(1);

    private final AtomicInteger callers = new AtomicInteger();

    /** How many have come so far. */
    public int callers() {
        return callers.get();
    }

    public void letGo() {
        hanging.countDown();
    }

    @Override
    public RedisConnection getConnection() {
        callers.incrementAndGet();
        try {
            hanging.await();
        } catch (InterruptedException ex) {
            Thread.currentThread().interrupt();
        }
        throw new RedisConnectionFailureException("let go");
    }

    @Override
    public RedisClusterConnection getClusterConnection() {
        throw new UnsupportedOperationException();
    }

    @Override
    public RedisSentinelConnection getSentinelConnection() {
        throw new UnsupportedOperationException();
    }

    @Override
    public boolean getConvertPipelineAndTxResults() {
        return false;
    }

    @Override
    public DataAccessException translateExceptionIfPossible(RuntimeException ex) {
        return null;
    }
}
