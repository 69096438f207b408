package io.ratelimit.benchmarks.redis;

import java.time.Duration;
import java.util.Map;

/** The Redis of this run: its own, on this machine. */
public record RedisAddress(int port) {

    public static final String HOST = "127.0.0.1";

    private static final String PROPERTY = "benchmark.redis.port";

    /** As the JVM was told. */
    public static RedisAddress ofThisRun() {
        return new RedisAddress(Integer.getInteger(PROPERTY));
    }

    /** The same Redis over a wire that takes so long there and back. */
    public RedisAddress farAway(Duration roundTrip) {
        return DelayedWire.to(this, roundTrip);
    }

    /** Tells a JVM. */
    public String jvmArgument() {
        return "-D" + PROPERTY + "=" + port;
    }

    public String uri() {
        return "redis://" + HOST + ":" + port;
    }

    /** Spring Boot's properties for it. */
    Map<String, String> properties() {
        return Map.of("spring.data.redis.host", HOST, "spring.data.redis.port", Integer.toString(port));
    }
}
