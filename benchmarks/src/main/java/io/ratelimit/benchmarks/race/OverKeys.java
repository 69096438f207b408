package io.ratelimit.benchmarks.race;

import java.util.concurrent.ThreadLocalRandom;
import org.openjdk.jmh.infra.Blackhole;

/** A contestant over keys of its own, whichever the workload draws: one scenario, several numbers of keys. */
public final class OverKeys implements Contestant {

    private final String name;

    private final Contestant contestant;

    private final String[] keys;

    public OverKeys(String name, Contestant contestant, Keys keys) {
        this.name = name;
        this.contestant = contestant;
        this.keys = keys.all();
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public void prepare(Blackhole sink) {
        contestant.touch(keys, sink);
    }

    @Override
    public boolean call(String key, Blackhole sink) {
        return contestant.call(keys[ThreadLocalRandom.current().nextInt(keys.length)], sink);
    }

    @Override
    public void close() {
        contestant.close();
    }
}
