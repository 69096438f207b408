package io.ratelimit.redis.connection;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.springframework.data.redis.connection.RedisClusterConfiguration;
import org.springframework.data.redis.connection.RedisSentinelConfiguration;
import org.springframework.data.redis.connection.RedisSocketConfiguration;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.RedisStaticMasterReplicaConfiguration;

class RedisAddressTests {

    @Test
    void hostAndPortAreNamedWhateverTheKindAndNoPassword() {
        RedisStandaloneConfiguration server = new RedisStandaloneConfiguration("redis.internal", 6380);
        server.setPassword("secret");
        assertThat(RedisAddress.of(server)).isEqualTo("redis.internal:6380");
        assertThat(RedisAddress.of(new RedisStaticMasterReplicaConfiguration("master", 6381)))
                .isEqualTo("master:6381");
        assertThat(RedisAddress.of(new RedisClusterConfiguration(List.of("one:7000"))))
                .isEqualTo("one:7000");
        assertThat(RedisAddress.of(
                        new RedisSentinelConfiguration().master("mymaster").sentinel("guard", 26_379)))
                .isEqualTo("mymaster (by the sentinels guard:26379)");
        assertThat(RedisAddress.of(new RedisSocketConfiguration("/run/redis.sock")))
                .isEqualTo("/run/redis.sock");
    }
}
