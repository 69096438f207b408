package io.ratelimit.benchmarks;

import static io.ratelimit.benchmarks.results.Measure.COST;
import static io.ratelimit.benchmarks.results.Measure.THROUGHPUT;

import io.ratelimit.benchmarks.race.Field;
import io.ratelimit.benchmarks.race.Quota;
import io.ratelimit.benchmarks.results.Measure;
import io.ratelimit.benchmarks.results.Target;
import java.util.List;
import java.util.function.Supplier;

/** The races: contestants, threads, keys, the measure, and the targets. */
// A function without state, and an immutable list.
@SuppressWarnings("ImmutableEnumChecker")
public enum Heat {
    ANNOTATED_ALLOWED(
            1,
            "annotated call in memory, allowed",
            () -> Fields.annotated(true),
            1,
            1,
            COST,
            new Target("this starter", COST, 54.0 / 25)),
    ANNOTATED_REJECTED(
            2,
            "annotated call in memory, rejected: the exception is thrown and caught",
            () -> Fields.annotated(false),
            1,
            1,
            COST,
            new Target("this starter", COST, 187.0 / 25)),
    MEMORY_ONE_THREAD(
            3,
            "decision in memory, one thread, one key",
            Fields::memory,
            1,
            1,
            COST,
            new Target("this starter, registry", COST, 31.0 / 33),
            new Target("this starter, bare store", COST, 31.0 / 33)),
    MEMORY_FOUR_THREADS(
            3,
            "decision in memory, four threads, one key",
            Fields::memory,
            4,
            1,
            COST,
            new Target("this starter, registry", COST, 120.0 / 144),
            new Target("this starter, bare store", COST, 120.0 / 144)),
    REDIS_1(
            4,
            "decision in Redis, one thread, one key",
            () -> Fields.redis(Quota.LASTING),
            1,
            1,
            THROUGHPUT,
            new Target("this starter", THROUGHPUT, 1)),
    REDIS_32(
            4,
            "decision in Redis, 32 threads, one key",
            () -> Fields.redis(Quota.LASTING),
            32,
            1,
            THROUGHPUT,
            new Target("this starter", THROUGHPUT, 1.43)),
    REDIS_64(
            4,
            "decision in Redis, 64 threads, one key",
            () -> Fields.redis(Quota.LASTING),
            64,
            1,
            THROUGHPUT,
            new Target("this starter", THROUGHPUT, 2.07)),
    REDIS_FAR_400(
            4,
            "decision in a Redis 20 ms away, 400 threads, 1,000 keys",
            Fields::redisFarAway,
            400,
            1_000,
            THROUGHPUT,
            // A mean latency of one and a half round trips.
            new Target("this starter", THROUGHPUT, 1 / 1.5)),
    REDIS_KEYS_32(
            5,
            "decision in Redis, 32 threads, 10,000 keys",
            () -> Fields.redis(Quota.LASTING),
            32,
            10_000,
            THROUGHPUT,
            new Target("this starter", THROUGHPUT, 1.42)),
    REJECTED_1(
            6,
            "rejected again and again, in Redis, one thread",
            Fields::rejected,
            1,
            1,
            THROUGHPUT,
            new Target("this starter", THROUGHPUT, 1_000)),
    REJECTED_32(
            6,
            "rejected again and again, in Redis, 32 threads",
            Fields::rejected,
            32,
            1,
            THROUGHPUT,
            new Target("this starter", THROUGHPUT, 1_000)),
    LEASES_ONE_KEY(
            7,
            "permits in leases of 100, 32 threads, one key",
            Fields::leases,
            32,
            1,
            THROUGHPUT,
            new Target("this starter, leases of 100", THROUGHPUT, 10)),
    LEASES_KEYS(
            7,
            "permits in leases of 100, 32 threads, 10,000 keys",
            Fields::leases,
            32,
            10_000,
            THROUGHPUT,
            new Target("this starter, leases of 100", THROUGHPUT, 45)),
    GROWTH_IN_MEMORY(10, "decision in memory, over more and more keys", Fields::growthInMemory, 1, 1, COST),
    GROWTH_IN_REDIS(10, "decision in Redis, over more and more keys", Fields::growthInRedis, 1, 1, COST);

    private final int line;

    private final String title;

    private final Supplier<Field> field;

    private final int threads;

    private final int keys;

    private final Measure measure;

    private final List<Target> targets;

    Heat(int line, String title, Supplier<Field> field, int threads, int keys, Measure measure, Target... targets) {
        this.line = line;
        this.title = title;
        this.field = field;
        this.threads = threads;
        this.keys = keys;
        this.measure = measure;
        this.targets = List.of(targets);
    }

    int line() {
        return line;
    }

    String title() {
        return title;
    }

    Field field() {
        return field.get();
    }

    int threads() {
        return threads;
    }

    int keys() {
        return keys;
    }

    /** What contestants are compared by. */
    Measure measure() {
        return measure;
    }

    List<Target> targets() {
        return targets;
    }

    /** What every call should be told. */
    boolean allowed() {
        return line != 2 && line != 6;
    }

    /** Whether a turn has to be long: leases of many keys grow with what each key takes, and go back in the others' turns. */
    boolean hasLongTurns() {
        return this == LEASES_KEYS;
    }

    /** How many times as long as others' its turns are: a call takes as long as hundreds of theirs. */
    int turnFactor() {
        return this == REDIS_FAR_400 ? 5 : 1;
    }

    boolean usesRedis() {
        return line >= 4 && this != GROWTH_IN_MEMORY;
    }
}
