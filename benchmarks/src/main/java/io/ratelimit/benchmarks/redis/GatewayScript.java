package io.ratelimit.benchmarks.redis;

import io.ratelimit.benchmarks.race.Contestant;
import io.ratelimit.benchmarks.race.Quota;
import java.util.List;
import org.openjdk.jmh.infra.Blackhole;
import org.springframework.core.io.ClassPathResource;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.data.redis.core.script.DefaultRedisScript;
import org.springframework.data.redis.core.script.RedisScript;

/**
 * Spring Cloud Gateway's script, out of its jar, with the keys and arguments of its {@code RedisRateLimiter}. The gateway
 * calls it without blocking; here it comes by the template, as the floor does, which says what the script costs.
 */
public final class GatewayScript implements Contestant {

    @SuppressWarnings("rawtypes")
    private static final RedisScript<List> SCRIPT = script();

    private static final String LIBRARY = "Gateway's script";

    private final String name;

    private final List<String> limits;

    private final TemplateApplication application;

    private final StringRedisTemplate template;

    private final Object[] arguments;

    private GatewayScript(String name, List<String> limits, RedisAddress redis, Quota quota) {
        this.name = name;
        this.limits = limits;
        this.application = new TemplateApplication(redis);
        this.template = application.template();
        // Tokens come by the second: a slow limit takes several for a call, as the gateway's documentation has it.
        long tokens = quota.period().toSeconds();
        this.arguments = new Object[] {
            Long.toString(quota.permits()), Long.toString(quota.capacity() * tokens), "", Long.toString(tokens)
        };
    }

    public static GatewayScript of(RedisAddress redis, Quota quota) {
        return new GatewayScript(LIBRARY, List.of(""), redis, quota);
    }

    /** Two limits, which it does not know: two calls, one after the other. */
    public static GatewayScript calledTwice(RedisAddress redis, Quota quota) {
        return new GatewayScript(LIBRARY + ": two calls", List.of("first.", "second."), redis, quota);
    }

    @SuppressWarnings("rawtypes")
    private static RedisScript<List> script() {
        DefaultRedisScript<List> script = new DefaultRedisScript<>();
        script.setLocation(new ClassPathResource("META-INF/scripts/request_rate_limiter.lua"));
        script.setResultType(List.class);
        return script;
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public boolean call(String key, Blackhole sink) {
        for (String limit : limits) {
            if (!isAllowed(limit + key, sink)) {
                return false;
            }
        }
        return true;
    }

    private boolean isAllowed(String id, Blackhole sink) {
        String prefix = "request_rate_limiter.{" + id + "}.";
        List<?> reply = template.execute(SCRIPT, List.of(prefix + "tokens", prefix + "timestamp"), arguments);
        sink.consume(reply);
        return reply != null && Long.valueOf(1).equals(reply.get(0));
    }

    @Override
    public void close() {
        application.close();
    }
}
