package io.ratelimit.benchmarks.race;

import java.util.List;

/** Who runs against each other. */
public record Field(Contestant floor, List<Contestant> contestants) implements AutoCloseable {

    @Override
    public void close() {
        contestants.forEach(Contestant::close);
        floor.close();
    }
}
