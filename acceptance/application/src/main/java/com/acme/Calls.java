package com.acme;

import java.util.ArrayList;
import java.util.List;
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

    /** Returns the cost of a call that has ended. An expression passes the exception, so that failures cost, too. */
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

        /**
         * Of publishers that emit the key, because the cost of a cancelled call is known to a collector alone. If a
         * client goes while the first values arrive, the estimate is the cost.
         */
        @Bean
        Collector<String, ?, Integer> collected(Calls calls) {
            return Collector.<String, List<String>, Integer>of(
                    ArrayList::new,
                    (keys, key) -> {
                        keys.add(key);
                        if (keys.size() == 10) {
                            calls.toSettle(key);
                        }
                    },
                    (one, other) -> one,
                    keys -> keys.isEmpty() ? COST : calls.settled(keys.get(0), null));
        }
    }
}
