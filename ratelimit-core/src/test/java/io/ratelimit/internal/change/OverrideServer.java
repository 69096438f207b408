package io.ratelimit.internal.change;

import io.ratelimit.RateLimitAdmin;
import io.ratelimit.RateLimitOverride;
import io.ratelimit.internal.change.OverrideSnapshot.Result;
import io.ratelimit.internal.limiter.StoredOverride;
import java.time.Duration;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** Does what Redis does with overrides, by a clock that the test sets. */
final class OverrideServer {

    /** The value of the key. Tests also put what a newer version has written. */
    final Map<String, StoredOverride> overrides = new TreeMap<>();

    private long micros = 1_795_251_352_000_000L;

    long micros() {
        return micros;
    }

    /** Lets time pass; a failover to a server with another clock may also set it back. */
    void pass(Duration time) {
        micros += time.toNanos() / 1_000;
    }

    OverrideSnapshot read() {
        int before = overrides.size();
        overrides.values().removeIf(override -> override.endMicros() != 0 && override.endMicros() <= micros);
        return new OverrideSnapshot(micros, Result.UNCHANGED, 0, before - overrides.size(), overrides);
    }

    OverrideSnapshot write(
            String id, @Nullable RateLimitOverride next, @Nullable String principal, long expectedVersion) {
        int ended = read().ended();
        StoredOverride present = overrides.get(id);
        long version = present == null ? 0 : present.version();
        if (expectedVersion != RateLimitAdmin.ANY_VERSION && expectedVersion != version) {
            return new OverrideSnapshot(micros, Result.CONFLICT, version, ended, overrides);
        }
        if (next == null) {
            Result result = overrides.remove(id) == null ? Result.UNCHANGED : Result.CHANGED;
            return new OverrideSnapshot(micros, result, version, ended, overrides);
        }
        put(id, next, principal);
        return new OverrideSnapshot(micros, Result.CHANGED, version, ended, overrides);
    }

    /** Stores the override of an instance that is not simulated. */
    void put(String id, @Nullable RateLimitOverride next, @Nullable String principal) {
        Duration duration = next == null ? null : next.duration();
        long newest = overrides.values().stream()
                .mapToLong(StoredOverride::version)
                .max()
                .orElse(0);
        long end = duration == null ? 0 : micros + duration.toNanos() / 1_000;
        overrides.put(id, new StoredOverride(Math.max(micros, newest + 1), end, next, principal));
    }
}
