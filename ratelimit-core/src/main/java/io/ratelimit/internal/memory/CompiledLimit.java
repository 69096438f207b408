package io.ratelimit.internal.memory;

import io.ratelimit.RateLimit;
import io.ratelimit.internal.limit.AlgorithmTraits.Trait;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ConcurrentMap;

/**
 * A limit as the store knows it: what every call with it needs, worked out at the first and kept with the limit.
 *
 * @param aheadMicros how far ahead permits can be reserved
 * @param blockFor for how long violations block the key; empty, as in a dry run: they do not
 * @param spacesOut whether a call's slot comes after all that are taken
 * @param table the one of the store
 * @param buckets those of all limits with the same id
 */
record CompiledLimit(
        Rule<?> rule,
        long capacity,
        long aheadMicros,
        List<Duration> blockFor,
        boolean spacesOut,
        BucketTable table,
        ConcurrentMap<String, Bucket> buckets) {

    static CompiledLimit of(RateLimit limit, BucketTable table) {
        if (limit.compiled() instanceof CompiledLimit known && known.table == table) {
            return known;
        }
        CompiledLimit compiled = new CompiledLimit(
                Rule.of(limit),
                limit.capacity(),
                limit.hasRate() ? limit.maxWait().toNanos() / 1_000 : 0,
                limit.dryRun() ? List.of() : limit.blockFor(),
                limit.numbers().traits().has(Trait.SPACES_CALLS),
                table,
                table.of(limit));
        limit.compiled(compiled);
        return compiled;
    }
}
