package io.ratelimit.redis.connection;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.springframework.data.redis.connection.RedisClusterConfiguration;
import org.springframework.data.redis.connection.RedisConfiguration;
import org.springframework.data.redis.connection.RedisSentinelConfiguration;
import org.springframework.data.redis.connection.RedisSocketConfiguration;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

class RedisAddressTests {

    @Test
    void hostAndPortAreNamedWhateverTheKindAndNoPassword() {
        RedisStandaloneConfiguration server = new RedisStandaloneConfiguration("redis.internal", 6380);
        server.setPassword("secret");
        assertThat(RedisAddress.of(server)).isEqualTo("redis.internal:6380");
        assertThat(RedisAddress.of(new RedisClusterConfiguration(List.of("one:7000"))))
                .isEqualTo("one:7000");
        assertThat(RedisAddress.of(
                        new RedisSentinelConfiguration().master("mymaster").sentinel("guard", 26_379)))
                .isEqualTo("mymaster (by the sentinels guard:26379)");
        assertThat(RedisAddress.of(new RedisSocketConfiguration("/run/redis.sock")))
                .isEqualTo("/run/redis.sock");
    }

    /** The getter of a server returns a default if the connections were created with another type of configuration. */
    @Test
    void serverIsTheOneOfTheConnectionsHoweverTheyWereCreated() {
        RedisStandaloneConfiguration server = new RedisStandaloneConfiguration("redis.internal", 6380);
        server.setDatabase(3);
        assertThat(RedisAddress.servers(new LettuceConnectionFactory((RedisConfiguration) server)))
                .isEqualTo(server);
        server.setUsername("user");
        server.setPassword("secret");
        assertThat(RedisAddress.servers(new LettuceConnectionFactory(server))).isEqualTo(server);
        assertThat(RedisAddress.servers(new LettuceConnectionFactory((RedisConfiguration) server)))
                .isNull();
    }
}
