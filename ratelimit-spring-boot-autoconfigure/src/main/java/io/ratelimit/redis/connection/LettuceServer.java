package io.ratelimit.redis.connection;

import io.ratelimit.redis.RedisTopology;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/** The one server that Lettuce is connected to, or the master of the moment. */
final class LettuceServer implements RedisTopology {

    private final LettuceConnectionFactory connections;

    private final Runnable connect;

    /** @param connect makes a connection, where there is none */
    LettuceServer(LettuceConnectionFactory connections, Runnable connect) {
        this.connections = connections;
        this.connect = connect;
    }

    /** Whoever has its place, by name or by the word of Sentinel, is found with the new connection. */
    @Override
    public void reconnect(String server) {
        connections.resetConnection();
        connect.run();
    }
}
