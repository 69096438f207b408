package io.ratelimit.benchmarks.redis;

import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * A Redis of this run, on this machine.
 *
 * @param ports one, or those of the masters of a cluster
 */
public record RedisAddress(List<Integer> ports) {

    public static final String HOST = "127.0.0.1";

    private static final String PROPERTY = "benchmark.redis.port";

    static RedisAddress of(int port) {
        return new RedisAddress(List.of(port));
    }

    /** As the JVM was told. */
    public static RedisAddress ofThisRun() {
        return of(Integer.getInteger(PROPERTY));
    }

    /** Each server on its own. */
    public List<RedisAddress> servers() {
        return ports.stream().map(RedisAddress::of).toList();
    }

    /** The same Redis over a wire that takes so long there and back. */
    public RedisAddress farAway(Duration roundTrip) {
        return DelayedWire.to(this, roundTrip);
    }

    /** Tells a JVM. */
    public String jvmArgument() {
        return "-D" + PROPERTY + "=" + port();
    }

    boolean isCluster() {
        return ports.size() > 1;
    }

    int port() {
        return ports.get(0);
    }

    public String uri() {
        return uris().get(0);
    }

    List<String> uris() {
        return ports.stream().map(port -> "redis://" + HOST + ":" + port).toList();
    }

    /** Spring Boot's properties for it. */
    Map<String, Object> properties() {
        Map<String, Object> properties = new HashMap<>();
        if (isCluster()) {
            properties.put(
                    "spring.data.redis.cluster.nodes",
                    ports.stream().map(port -> HOST + ":" + port).collect(Collectors.joining(",")));
        } else {
            properties.put("spring.data.redis.host", HOST);
            properties.put("spring.data.redis.port", port());
        }
        return properties;
    }
}
