package io.ratelimit.benchmarks.race;

import io.ratelimit.benchmarks.redis.EmbeddedCluster;
import io.ratelimit.benchmarks.redis.RedisAddress;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The contestants of a race.
 *
 * @param cluster that they have for themselves, stopped after them; null if there is none
 */
public record Field(
        Contestant floor,
        List<Contestant> contestants,
        @Nullable EmbeddedCluster cluster) implements AutoCloseable {

    public Field(Contestant floor, List<Contestant> contestants) {
        this(floor, contestants, null);
    }

    /** The floor and the others. */
    public Stream<Contestant> all() {
        return Stream.concat(Stream.of(floor), contestants.stream());
    }

    /** All servers that contestants use. */
    public List<RedisAddress> servers() {
        RedisAddress single = RedisAddress.ofThisRun();
        return cluster == null ? List.of(single) : List.of(single, cluster.address());
    }

    @Override
    public void close() {
        all().forEach(Contestant::close);
        if (cluster != null) {
            cluster.close();
        }
    }
}
