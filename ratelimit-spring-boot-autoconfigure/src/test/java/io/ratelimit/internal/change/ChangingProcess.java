package io.ratelimit.internal.change;

import io.ratelimit.RateLimitOverride;
import io.ratelimit.RateLimitStoreException;
import io.ratelimit.RateLimitStoreException.Reason;
import io.ratelimit.testing.ChildJvm;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * An instance under load in a JVM of its own, whose limits change. Limits of {@link #ENDLESS} algorithms return nothing while the
 * test runs; the others have a window of {@link #WINDOW_SECONDS}, whatever their capacity is.
 */
final class ChangingProcess {

    static final List<String> ENDLESS = List.of("token-bucket", "leaky-bucket", "fixed-window", "sliding-window-log");

    static final List<String> WINDOWS = List.of("tokens", "fixed", "log");

    static final int WINDOW_SECONDS = 2;

    /** Of an endless limit. */
    static final int KEYS = 25;

    /** Of a window. */
    static final int WINDOW_KEYS = 2;

    /** As configured. */
    static final long CAPACITY = 10;

    private static final Map<String, String> ALGORITHMS =
            Map.of("tokens", "token-bucket", "fixed", "fixed-window", "log", "sliding-window-log");

    private final OverriddenInstance instance;

    private final Random random;

    private final Map<String, Counts> buckets = new TreeMap<>();

    private final Thread load = new Thread(this::load, "load");

    private volatile boolean over;

    private long calls;

    private ChangingProcess(OverriddenInstance instance, long seed) {
        this.instance = instance;
        this.random = new Random(seed);
    }

    /** What one process knows of a bucket. */
    private static final class Counts {

        private int admitted;

        /** Calls that failed, and may have been charged. */
        private int unknown;

        /** When each admitted call began and ended, where permits come back. The clock is that of all processes. */
        private final List<Long> times = new ArrayList<>();

        @Override
        public String toString() {
            return admitted + " " + unknown
                    + times.stream().map(time -> " " + time).collect(Collectors.joining());
        }
    }

    static Stream<String> limits() {
        return Stream.concat(ENDLESS.stream(), WINDOWS.stream());
    }

    static OverriddenInstance start(int port) {
        return new OverriddenInstance(
                port,
                "random",
                Stream.concat(
                                Stream.of("ratelimit.on-store-failure=throw", "ratelimit.redis.timeout=1s"),
                                limits().flatMap(limit -> Stream.of(
                                                ".algorithm=" + ALGORITHMS.getOrDefault(limit, limit),
                                                ".capacity=" + CAPACITY,
                                                ".rate=" + rate(limit, CAPACITY))
                                        .map(property -> "ratelimit.limits." + limit + property)))
                        .toArray(String[]::new));
    }

    private static String rate(String limit, long capacity) {
        return WINDOWS.contains(limit) ? capacity + "/" + WINDOW_SECONDS + "s" : "1/d";
    }

    /**
     * Calls limits until the test ends it, and changes them as the test says.
     *
     * @param args the port of Redis, and a seed
     */
    public static void main(String[] args) throws IOException {
        ChangingProcess process = new ChangingProcess(start(Integer.parseInt(args[0])), Long.parseLong(args[1]));
        ChildJvm.answerAll(line -> {
            String[] words = line.split(" ", -1);
            return switch (words[0]) {
                case "begin" -> process.begin();
                case "change" -> change(process.instance, words[1], Long.parseLong(words[2]));
                case "effective" -> effective(process.instance);
                case "end" -> process.end();
                case "bucket" -> "" + process.counts(words[1] + " " + words[2]);
                default -> throw new IllegalArgumentException(line);
            };
        });
    }

    /** Overrides the capacity of a limit. With the one that is configured, removes the override. */
    static String change(OverriddenInstance instance, String limit, long capacity) {
        try {
            if (capacity == CAPACITY) {
                instance.admin().removeOverride(limit);
            } else {
                instance.admin()
                        .override(
                                limit,
                                RateLimitOverride.builder()
                                        .capacity(capacity)
                                        .rate(rate(limit, capacity))
                                        .build());
            }
            return "changed";
        } catch (RateLimitStoreException ex) {
            return "failed";
        }
    }

    static String effective(OverriddenInstance instance) {
        return limits().map(
                        limit -> limit + "=" + instance.admin().status(limit).effective())
                .collect(Collectors.joining(", "));
    }

    private String begin() {
        load.start();
        return "begun";
    }

    private String end() {
        over = true;
        try {
            load.join();
        } catch (InterruptedException ex) {
            throw new IllegalStateException(ex);
        }
        return "" + calls;
    }

    private Counts counts(String bucket) {
        return buckets.computeIfAbsent(bucket, first -> new Counts());
    }

    private void load() {
        List<String> limits = limits().toList();
        while (!over) {
            String limit = limits.get(random.nextInt(limits.size()));
            call(limit, "key" + random.nextInt(WINDOWS.contains(limit) ? WINDOW_KEYS : KEYS));
        }
    }

    private void call(String limit, String key) {
        calls++;
        long begin = System.nanoTime();
        try {
            if (instance.limiter(limit).tryAcquire(key).allowed()) {
                long end = System.nanoTime();
                Counts counts = counts(limit + " " + key);
                counts.admitted++;
                if (WINDOWS.contains(limit)) {
                    counts.times.addAll(List.of(begin, end));
                }
            }
        } catch (RateLimitStoreException ex) {
            if (ex.getReason() != Reason.SHORT_CIRCUITED) {
                counts(limit + " " + key).unknown++;
            }
        }
    }
}
