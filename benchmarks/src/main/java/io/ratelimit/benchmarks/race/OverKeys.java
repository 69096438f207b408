package io.ratelimit.benchmarks.race;

import java.util.concurrent.ThreadLocalRandom;
import org.openjdk.jmh.infra.Blackhole;

/** A contestant over keys of its own, whichever the line draws: one line, several numbers of keys. */
public final class OverKeys implements Contestant {

    private final Contestant contestant;

    private final String[] keys;

    public OverKeys(Contestant contestant, Keys keys) {
        this.contestant = contestant;
        this.keys = keys.all();
    }

    @Override
    public String name() {
        return contestant.name();
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
