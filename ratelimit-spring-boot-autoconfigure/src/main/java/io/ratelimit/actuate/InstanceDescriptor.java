package io.ratelimit.actuate;

import io.ratelimit.statistics.InstanceFigures;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * Describes an instance that shares the limits.
 *
 * @param name its process and host
 * @param state as of a {@link StoreDescriptor}
 * @param reason why its store fails; {@code null}: it does not
 */
public record InstanceDescriptor(
        String name,
        Instant startedAt,
        Instant lastSeenAt,
        String state,
        @Nullable String reason) {

    static InstanceDescriptor of(InstanceFigures instance) {
        return new InstanceDescriptor(
                instance.name(),
                instance.startedAt(),
                instance.lastSeenAt(),
                instance.state().state(),
                instance.state().reason());
    }
}
