package io.ratelimit.benchmarks.redis;

import io.ratelimit.benchmarks.race.Contestant;
import java.util.List;
import org.openjdk.jmh.infra.Blackhole;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.data.redis.core.script.RedisScript;

/** The floor of decisions in Redis: {@code EVALSHA} of a script that does nothing, by Spring Boot's own template. */
public final class BareScript implements Contestant {

    private static final RedisScript<Long> SCRIPT = RedisScript.of("return 1", Long.class);

    private final TemplateApplication application;

    private final StringRedisTemplate template;

    private final boolean answer;

    private final boolean keyed;

    /** @param answer what it says of every call */
    public BareScript(RedisAddress redis, boolean answer) {
        this.application = new TemplateApplication(redis);
        this.template = application.template();
        this.answer = answer;
        // The key decides to which node it goes.
        this.keyed = redis.isCluster();
    }

    @Override
    public String name() {
        return "EVALSHA 'return 1' (floor)";
    }

    @Override
    public boolean call(String key, Blackhole sink) {
        sink.consume(template.execute(SCRIPT, keyed ? List.of(key) : List.of()));
        return answer;
    }

    @Override
    public void close() {
        application.close();
    }
}
