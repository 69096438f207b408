package io.ratelimit.internal.statistics;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Whether an instance shares its limits.
 *
 * @param state {@code shared}, {@code instance}, {@code on-store-failure} or {@code not-heard}
 * @param reason why the store fails; {@code null}: it does not
 * @param failingServers the names of the Redis servers that fail; empty if there is only one
 */
public record InstanceState(String state, @Nullable String reason, List<String> failingServers) {

    /** Of one that was killed, or cannot reach the others. */
    static final InstanceState NOT_HEARD = new InstanceState("not-heard", null, List.of());
}
