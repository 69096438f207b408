package io.ratelimit.internal.change;

import io.ratelimit.RateLimitOverride;
import io.ratelimit.internal.concurrent.BoundedWait;
import java.time.Duration;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ScheduledExecutorService;
import java.util.function.LongSupplier;

/** Overrides whose clock and thread are the simulation's. */
public final class SimulatedOverrides {

    private static final Duration PATIENCE = Duration.ofSeconds(1);

    private final OverrideRepository repository;

    private SimulatedOverrides(OverrideRepository repository) {
        this.repository = repository;
    }

    public static SimulatedOverrides shared(OverrideRepository repository) {
        return new SimulatedOverrides(repository);
    }

    public static SimulatedOverrides ofThisInstance(LongSupplier epochMicros) {
        return new SimulatedOverrides(new InMemoryOverrideRepository(epochMicros));
    }

    public OverrideSynchronizer synchronizer(LongSupplier nanos, ScheduledExecutorService thread) {
        return new OverrideSynchronizer(repository, ChangeChannel.NONE, nanos, thread);
    }

    /** What is stored, by the ids of limits and plans. */
    public Map<String, Stored> stored() {
        Map<String, Stored> all = new TreeMap<>();
        BoundedWait.get(repository.read(), PATIENCE).overrides().forEach((id, override) -> {
            if (override.attributes() != null) {
                all.put(id, new Stored(override.attributes(), override.endMicros()));
            }
        });
        return all;
    }

    /**
     * An override as it is stored.
     *
     * @param end in microseconds by the clock of the store; 0: none
     */
    public record Stored(RateLimitOverride attributes, long end) {}
}
