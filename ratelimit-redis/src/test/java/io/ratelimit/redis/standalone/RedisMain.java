package io.ratelimit.redis.standalone;

import io.ratelimit.RateLimit;
import io.ratelimit.RateLimiter;
import io.ratelimit.standalone.RateLimiters;
import java.time.Duration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/** A program that has the core, the Redis module and Lettuce. Arguments: host, port, name of the limit. */
public final class RedisMain {

    public static void main(String[] args) {
        LettuceConnectionFactory connections = new LettuceConnectionFactory(args[0], Integer.parseInt(args[1]));
        connections.start();
        try (RedisStore redis = RedisStore.over(connections, "standalone", Duration.ofSeconds(30))) {
            RateLimit limit = RateLimit.named(args[2]).capacity(2).rate("2/m").build();
            RateLimiter quotes = RateLimiters.over(redis.store(), limit).get(args[2]);
            for (int i = 0; i < 3; i++) {
                System.out.println(quotes.tryAcquire("alice").allowed());
            }
        } finally {
            connections.destroy();
        }
    }
}
