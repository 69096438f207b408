package com.acme;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collector;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RestController;

/** Counts the calls of each key: those that were admitted, those that are to be settled, and those that were. */
@RestController
public class Calls {

    /** What a call costs that was charged one permit before. */
    static final int COST = 3;

    private final Map<String, Counts> counts = new ConcurrentHashMap<>();

    @GetMapping("/calls/{key}")
    public Map<String, Long> of(@PathVariable String key) {
        Counts of = counts(key);
        return Map.of(
                "admitted", of.admitted.get(), "toSettle", of.toSettle.get(), "settled", of.settled.get());
    }

    void admitted(String key) {
        counts(key).admitted.incrementAndGet();
    }

    /** Notes that the end of the call tells its cost. */
    void toSettle(String key) {
        counts(key).toSettle.incrementAndGet();
    }

    /** Returns the cost of a call that has ended. Called by an expression, which has the exception so that failures cost, too. */
    public int settled(String key, Throwable exception) {
        counts(key).settled.incrementAndGet();
        return COST;
    }

    private Counts counts(String key) {
        return counts.computeIfAbsent(key, absent -> new Counts());
    }

    private record Counts(AtomicLong admitted, AtomicLong toSettle, AtomicLong settled) {

        Counts() {
            this(new AtomicLong(), new AtomicLong(), new AtomicLong());
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class Collected {

        /** Of publishers that emit the key, because the cost of a cancelled call is known to a collector alone. */
        @Bean
        Collector<String, ?, Integer> collected(Calls calls) {
            return Collector.of(
                    () -> new String[1],
                    (key, value) -> {
                        if (key[0] == null) {
                            key[0] = value;
                            calls.toSettle(value);
                        }
                    },
                    (one, other) -> one,
                    key -> key[0] == null ? COST : calls.settled(key[0], null));
        }
    }
}
