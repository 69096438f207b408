package io.ratelimit.internal.change;

import io.ratelimit.RateLimitAdmin;
import io.ratelimit.RateLimitOverride;
import io.ratelimit.internal.change.OverrideSnapshot.Result;
import io.ratelimit.internal.limiter.StoredOverride;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/** Stores the overrides of this instance alone. */
final class InMemoryOverrideRepository implements OverrideRepository {

    private final LongSupplier epochMicros;

    private final Map<String, StoredOverride> overrides = new HashMap<>();

    private long last;

    /** @param epochMicros the time, by a clock that is never set back */
    InMemoryOverrideRepository(LongSupplier epochMicros) {
        this.epochMicros = epochMicros;
    }

    @Override
    public synchronized CompletionStage<OverrideSnapshot> read() {
        return CompletableFuture.completedFuture(snapshot(Result.UNCHANGED, 0));
    }

    @Override
    public synchronized CompletionStage<OverrideSnapshot> write(
            String id, @Nullable RateLimitOverride next, @Nullable String principal, long expectedVersion) {
        long now = now();
        StoredOverride present = overrides.get(id);
        if (present != null && present.hasEnded(now)) {
            present = null;
        }
        long version = present == null ? 0 : present.version();
        if (expectedVersion != RateLimitAdmin.ANY_VERSION && expectedVersion != version) {
            return CompletableFuture.completedFuture(snapshot(Result.CONFLICT, version));
        }
        if (next == null) {
            overrides.remove(id);
            return CompletableFuture.completedFuture(
                    snapshot(present == null ? Result.UNCHANGED : Result.CHANGED, version));
        }
        Duration duration = next.duration();
        long end = duration == null ? 0 : now + duration.toNanos() / 1_000;
        overrides.put(id, new StoredOverride(now, end, next, principal));
        return CompletableFuture.completedFuture(snapshot(Result.CHANGED, version));
    }

    @Override
    public boolean isShared() {
        return false;
    }

    private OverrideSnapshot snapshot(Result result, long version) {
        long now = now();
        int before = overrides.size();
        overrides.values().removeIf(override -> override.hasEnded(now));
        return new OverrideSnapshot(now, result, version, before - overrides.size(), overrides);
    }

    /** No two changes have the same time, which is their version. */
    private long now() {
        last = Math.max(epochMicros.getAsLong(), last + 1);
        return last;
    }
}
