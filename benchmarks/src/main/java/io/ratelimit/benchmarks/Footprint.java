package io.ratelimit.benchmarks;

import io.ratelimit.benchmarks.results.Measure;
import io.ratelimit.benchmarks.results.Row;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The rows about bytes. */
final class Footprint {

    /**
     * How many users Redis has while its memory is measured. Its tables are as full as with a million, so each user takes as
     * many bytes.
     */
    static final int USERS = 125_000;

    private Footprint() {}

    static List<Row> inRedis() {
        String all = "one user in Redis, `used_memory`";
        String one = "one user in Redis, `MEMORY USAGE` after 1 call";
        String usedUp = "one user in Redis, `MEMORY USAGE` after 20 calls";
        return Stream.of(
                        rows(all, Measure.USED_MEMORY, 160.0, 144.0),
                        rows(one, Measure.BYTES, null, null),
                        rows(usedUp, Measure.BYTES_USED_UP, null, null))
                .flatMap(List::stream)
                .toList();
    }

    private static List<Row> rows(String what, Measure measure, @Nullable Double bucket, @Nullable Double window) {
        return List.of(
                row("token bucket", what, measure, bucket),
                row("fixed window", what, measure, window),
                row("sliding window", what, measure, null),
                row("leaky bucket", what, measure, null),
                row("sliding window log", what, measure, null));
    }

    private static Row row(String algorithm, String what, Measure measure, @Nullable Double goal) {
        // The only log of them.
        List<String> peers = algorithm.equals("sliding window log")
                ? List.of("Redisson")
                : List.of("Gateway's script", "Redisson", "Bucket4j");
        return new Row(algorithm + ": " + what, "", measure, "this starter, " + algorithm, peers, goal);
    }

    static List<Row> onTheHeap() {
        return List.of(new Row(
                "token bucket: one key on the heap",
                "",
                Measure.HEAP,
                "this starter, bare store",
                List.of("Resilience4j", "Bucket4j"),
                null));
    }
}
