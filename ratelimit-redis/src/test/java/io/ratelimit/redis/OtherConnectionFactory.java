package io.ratelimit.redis;

import org.springframework.dao.DataAccessException;
import org.springframework.data.redis.connection.RedisClusterConnection;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.RedisSentinelConnection;

/** Connections of an unknown kind, as another driver would have them. */
public record OtherConnectionFactory(RedisConnectionFactory hidden) implements RedisConnectionFactory {

    @Override
    public RedisConnection getConnection() {
        return hidden.getConnection();
    }

    @Override
    public RedisClusterConnection getClusterConnection() {
        return hidden.getClusterConnection();
    }

    @Override
    public RedisSentinelConnection getSentinelConnection() {
        return hidden.getSentinelConnection();
    }

    @Override
    public boolean getConvertPipelineAndTxResults() {
        return hidden.getConvertPipelineAndTxResults();
    }

    @Override
    public DataAccessException translateExceptionIfPossible(RuntimeException ex) {
        return hidden.translateExceptionIfPossible(ex);
    }
}
