package io.ratelimit.actuate;

import io.ratelimit.internal.statistics.InstanceFigures;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Describes an instance that shares the limits.
 *
 * @param name its process and host
 * @param state as of a {@link StoreDescriptor}; {@code not-heard}: it was killed, or cannot reach the store
 * @param reason why its store fails; {@code null}: it does not
 * @param failingServers the names of the Redis servers that fail; {@code null}: none, or there is only one
 */
public record InstanceDescriptor(
        String name,
        Instant startedAt,
        Instant lastSeenAt,
        String state,
        @Nullable String reason,
        @Nullable List<String> failingServers) {

    static InstanceDescriptor of(InstanceFigures instance) {
        List<String> failing = instance.state().failingServers();
        return new InstanceDescriptor(
                instance.name(),
                instance.startedAt(),
                instance.lastSeenAt(),
                instance.state().state(),
                instance.state().reason(),
                failing.isEmpty() ? null : failing);
    }
}
