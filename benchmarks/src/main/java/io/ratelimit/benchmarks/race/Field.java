package io.ratelimit.benchmarks.race;

import java.util.List;

/** The contestants of a race. */
public record Field(Contestant floor, List<Contestant> contestants) implements AutoCloseable {

    @Override
    public void close() {
        contestants.forEach(Contestant::close);
        floor.close();
    }
}
