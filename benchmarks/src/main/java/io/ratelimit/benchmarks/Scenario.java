package io.ratelimit.benchmarks;

import static io.ratelimit.benchmarks.Comparison.NONE;
import static io.ratelimit.benchmarks.results.Measure.COST;
import static io.ratelimit.benchmarks.results.Measure.THROUGHPUT;

import io.ratelimit.benchmarks.race.Field;
import io.ratelimit.benchmarks.race.Workload;
import io.ratelimit.benchmarks.results.Measure;
import io.ratelimit.benchmarks.results.Row;
import io.ratelimit.benchmarks.results.Section;
import java.util.List;
import java.util.Locale;
import java.util.function.Supplier;

/** Contestants that are measured together, in one JVM, and what the results compare of them. */
// A function without state, and immutable lists.
@SuppressWarnings("ImmutableEnumChecker")
public enum Scenario {
    ANNOTATED_ALLOWED(
            Section.ANNOTATED,
            COST,
            () -> Fields.annotated(true),
            Pace.IN_MEMORY,
            Workloads.ONE_CALLER,
            Comparison.of("allowed", "this starter", "Resilience4j", "Bucket4j's starter")
                    .goals(2.2),
            Comparison.of(
                            "allowed, with Micrometer",
                            "this starter, with Micrometer",
                            "Resilience4j",
                            "Bucket4j's starter")
                    .goals(3.0)),
    ANNOTATED_REJECTED(
            Section.ANNOTATED,
            COST,
            () -> Fields.annotated(false),
            Pace.IN_MEMORY,
            Workloads.ONE_CALLER,
            Comparison.of("rejected: the exception", "this starter", "Resilience4j", "Bucket4j's starter"),
            Comparison.of(
                    "rejected, with Micrometer",
                    "this starter, with Micrometer",
                    "Resilience4j",
                    "Bucket4j's starter")),
    MEMORY_ONE_THREAD(
            Section.MEMORY,
            COST,
            Fields::memory,
            Pace.IN_MEMORY,
            Workloads.ONE_CALLER,
            Comparison.of("token bucket, bare store", "this starter, bare store", "Resilience4j", "Bucket4j")
                    .goals(1.5),
            Comparison.of("token bucket, registry", "this starter, registry", "Resilience4j", "Bucket4j")),
    MEMORY_FOUR_THREADS(
            Section.MEMORY,
            COST,
            Fields::memory,
            Pace.IN_MEMORY,
            List.of(new Workload(4, 1)),
            Comparison.of("token bucket, bare store", "this starter, bare store", "Resilience4j", "Bucket4j")
                    .goals(1.6),
            Comparison.of("token bucket, registry", "this starter, registry", "Resilience4j", "Bucket4j")),
    MEMORY_ALGORITHMS(
            Section.MEMORY,
            COST,
            Fields::memoryByAlgorithm,
            Pace.IN_MEMORY,
            Workloads.ONE_CALLER,
            Comparison.of("fixed window, bare store", "this starter, fixed window", "Resilience4j", "Bucket4j"),
            Comparison.of("sliding window, bare store", "this starter, sliding window", "Resilience4j", "Bucket4j"),
            Comparison.of("leaky bucket, bare store", "this starter, leaky bucket", "Resilience4j", "Bucket4j"),
            Comparison.of("sliding window log, bare store", "this starter, sliding window log")),
    REDIS(
            Section.REDIS,
            THROUGHPUT,
            Fields::redis,
            Pace.IN_REDIS,
            Workloads.OF_A_SERVER,
            Workloads.beside("token bucket").goals(0.83, 1.7, 2.0, 0.83, 1.4, 1.4),
            Workloads.beside("token bucket as a script"),
            Workloads.beside("fixed window").goals(0.8, NONE, NONE, 0.8, 1.3),
            Workloads.beside("sliding window").goals(0.8, NONE, NONE, 0.8, 1.3),
            Workloads.beside("leaky bucket").goals(0.8, NONE, NONE, 0.8, 1.3),
            Comparison.of("sliding window log", "this starter, sliding window log", "Redisson")
                    .goals(0.72, NONE, NONE, 0.72, 1.0),
            Comparison.of(
                            "two limits on one call",
                            "this starter, two limits",
                            "Gateway's script: two calls",
                            "Bucket4j, batching: two bandwidths")
                    .goals(0.72, NONE, NONE, 0.72, 0.9)),
    REJECTED(
            Section.REJECTED,
            THROUGHPUT,
            Fields::rejected,
            Pace.IN_REDIS,
            List.of(new Workload(1, 1), new Workload(32, 1)),
            Comparison.of("rejected", "this starter", Workloads.PEERS).goals(1_000.0, 400.0),
            Comparison.of("rejected by Redis each time", "this starter, not remembered", Workloads.PEERS)),
    LEASES(
            Section.LEASES,
            THROUGHPUT,
            Fields::leases,
            Pace.IN_REDIS,
            List.of(new Workload(32, 1), new Workload(32, 10_000)),
            Comparison.of("turns of 100 ms", "this starter", "Bucket4j, delaying")
                    .goals(10.0, 5.0)),
    LEASES_LONG(
            Section.LEASES,
            THROUGHPUT,
            Fields::leases,
            Pace.LONG,
            List.of(new Workload(32, 10_000)),
            Comparison.of("turns of 5 s", "this starter", "Bucket4j, delaying")),
    CLUSTER(
            Section.CLUSTER,
            THROUGHPUT,
            Fields::cluster,
            Pace.IN_REDIS,
            List.of(new Workload(1, 1), new Workload(32, 1), new Workload(1, 10_000), new Workload(32, 10_000)),
            Workloads.beside("token bucket"),
            Comparison.of("one server instead", "this starter, one server instead"),
            Comparison.of(
                    "two limits in one slot", "this starter, two limits in one slot", "Gateway's script: two calls"),
            Comparison.of(
                    "two limits in two slots", "this starter, two limits in two slots", "Gateway's script: two calls")),
    FAR_1(1),
    FAR_5(5),
    FAR_20(20),
    FAR_80(80),
    FAR_150(150),
    GROWTH_IN_MEMORY(
            Section.GROWTH,
            COST,
            Fields::growthInMemory,
            Pace.IN_MEMORY,
            List.of(new Workload(1, 0)),
            Comparison.of("in memory, 1,000 keys", "this starter, 1,000 keys"),
            Comparison.of("in memory, 1,000,000 keys", "this starter, 1,000,000 keys", "Resilience4j", "Bucket4j")
                    .goals(5.0)),
    GROWTH_IN_REDIS(
            Section.GROWTH,
            COST,
            Fields::growthInRedis,
            Pace.IN_MEMORY,
            List.of(new Workload(1, 0)),
            Comparison.of("in Redis, 1,000 keys", "this starter, 1,000 keys"),
            Comparison.of("in Redis, 1,000,000 keys", "this starter, 1,000,000 keys"));

    private static final int FARTHER_MILLIS = 100;

    private final Section section;

    private final Measure measure;

    private final Supplier<Field> field;

    private final Pace pace;

    private final List<Workload> workloads;

    private final List<Comparison> comparisons;

    Scenario(
            Section section,
            Measure measure,
            Supplier<Field> field,
            Pace pace,
            List<Workload> workloads,
            Comparison... comparisons) {
        this.section = section;
        this.measure = measure;
        this.field = field;
        this.pace = pace;
        this.workloads = workloads;
        this.comparisons = List.of(comparisons);
    }

    /** A Redis that is so many milliseconds away, there and back. */
    Scenario(int roundTripMillis) {
        this(
                Section.FAR,
                THROUGHPUT,
                () -> Fields.farAway(roundTripMillis),
                roundTripMillis < FARTHER_MILLIS ? Pace.FAR : Pace.FARTHER,
                List.of(new Workload(32, 1_000), new Workload(400, 1_000)),
                // A mean latency of one and a half round trips.
                Comparison.of(roundTripMillis + " ms", "this starter", "Gateway's script", "Bucket4j, batching")
                        .goals(1 / 1.5, 1 / 1.5),
                Comparison.of(
                        roundTripMillis + " ms, leases of 100", "this starter, leases of 100", "Bucket4j, delaying"));
    }

    Section section() {
        return section;
    }

    String title() {
        String title = name().toLowerCase(Locale.ROOT).replace('_', ' ');
        return section == Section.FAR ? title + " ms" : title;
    }

    Field field() {
        return field.get();
    }

    Pace pace() {
        return pace;
    }

    List<Workload> workloads() {
        return workloads;
    }

    List<Row> rows() {
        return comparisons.stream()
                .flatMap(comparison -> comparison.rows(workloads, measure).stream())
                .toList();
    }

    /** What every call should be told. */
    boolean allowed() {
        return this != ANNOTATED_REJECTED && this != REJECTED;
    }

    /** Whether all calls take long enough to time each of them. */
    boolean isTimed() {
        return section == Section.REDIS || section == Section.CLUSTER || section == Section.FAR;
    }

    boolean usesRedis() {
        return measure == THROUGHPUT || this == GROWTH_IN_REDIS;
    }

    /** What several scenarios have. */
    private static final class Workloads {

        static final List<Workload> ONE_CALLER = List.of(new Workload(1, 1));

        static final List<Workload> OF_A_SERVER = List.of(
                new Workload(1, 1),
                new Workload(32, 1),
                new Workload(64, 1),
                new Workload(1, 10_000),
                new Workload(32, 10_000),
                new Workload(64, 10_000));

        static final String[] PEERS = {"Gateway's script", "Redisson", "Bucket4j", "Bucket4j, batching"};

        private Workloads() {}

        /** All peers have something that comes near. */
        static Comparison beside(String algorithm) {
            return Comparison.of(algorithm, "this starter, " + algorithm, PEERS);
        }
    }
}
