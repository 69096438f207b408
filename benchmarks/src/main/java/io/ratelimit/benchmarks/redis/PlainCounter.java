package io.ratelimit.benchmarks.redis;

import io.ratelimit.benchmarks.race.Contestant;
import java.time.Duration;
import org.openjdk.jmh.infra.Blackhole;
import org.springframework.data.redis.core.StringRedisTemplate;

/** The floor of bytes in Redis: a counter with a TTL, which is a number and no more. */
public final class PlainCounter implements Contestant {

    private final TemplateApplication application;

    private final StringRedisTemplate template;

    public PlainCounter(RedisAddress redis) {
        this.application = new TemplateApplication(redis);
        this.template = application.template();
    }

    @Override
    public String name() {
        return "a counter (floor)";
    }

    @Override
    public boolean call(String key, Blackhole sink) {
        sink.consume(template.opsForValue().increment("counter:" + key));
        sink.consume(template.expire("counter:" + key, Duration.ofMinutes(1)));
        return true;
    }

    @Override
    public void close() {
        application.close();
    }
}
