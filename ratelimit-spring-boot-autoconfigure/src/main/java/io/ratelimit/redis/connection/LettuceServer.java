package io.ratelimit.redis.connection;

import io.ratelimit.redis.RedisTopology;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/** Describes the one server that Lettuce is connected to, or the current master of Sentinel. */
final class LettuceServer implements RedisTopology {

    private final LettuceConnectionFactory connections;

    private final Runnable connect;

    /** @param connect opens a connection if there is none */
    LettuceServer(LettuceConnectionFactory connections, Runnable connect) {
        this.connections = connections;
        this.connect = connect;
    }

    /** Opens a new connection, which resolves the name or asks Sentinel again, and so finds a new server. */
    @Override
    public void reconnect(String server) {
        connections.resetConnection();
        connect.run();
    }
}
