package io.ratelimit.benchmarks.memory;

import io.ratelimit.benchmarks.race.Contestant;
import org.openjdk.jmh.infra.Blackhole;

/** The method itself. */
public final class BareCall implements Contestant {

    private final Quotes quotes = new Quotes();

    @Override
    public String name() {
        return "bare call";
    }

    @Override
    public boolean call(String key, Blackhole sink) {
        sink.consume(quotes.quote(key));
        return true;
    }
}
