package io.ratelimit.simulation;

import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/** The buckets of a model, its clock, and the first violation. */
@SuppressWarnings({"AnnotateFormatMethod", "LongDoubleConversion"})
final class ModelBuckets {

    final Map<String, BucketBounds> buckets = new LinkedHashMap<>();

    private final LongSupplier clock;

    /** The first one, which the starter may have swallowed. */
    private @Nullable AssertionError violation;

    private record Later(long due, Runnable change) {}

    private final List<Later> later = new ArrayList<>();

    /** @param clock microseconds */
    ModelBuckets(LongSupplier clock) {
        this.clock = clock;
    }

    long now() {
        return clock.getAsLong();
    }

    /** Makes the changes that are due. */
    void pass() {
        if (violation != null) {
            throw violation;
        }
        for (Later due : List.copyOf(later)) {
            if (due.due <= now()) {
                later.remove(due);
                due.change.run();
            }
        }
    }

    void later(long delay, Runnable change) {
        later.add(new Later(now() + delay, change));
    }

    BucketBounds bucket(String name) {
        return buckets.computeIfAbsent(name, added -> new BucketBounds(added, now()));
    }

    /** Does what an observer of the starter does, which may swallow what the observer throws. */
    void observe(Runnable work) {
        try {
            work.run();
        } catch (RuntimeException | AssertionError ex) {
            violation = violation == null ? new AssertionError("an observer fails: " + ex.getMessage(), ex) : violation;
            throw ex;
        }
    }

    void check(boolean holds, String message, Object... details) {
        if (!holds) {
            AssertionError found = new AssertionError(message.formatted(details));
            violation = violation == null ? found : violation;
            throw found;
        }
    }

    /** The store may have lost the permits of these calls. */
    static void unsure(Collection<Take> takes) {
        for (Take take : takes) {
            take.mayBeLost = true;
            if (take.bucket.held.remove(take)) {
                take.bucket.maybe.put(take, Long.MAX_VALUE);
            }
        }
    }
}
