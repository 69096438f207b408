package io.ratelimit.internal.statistics;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Whether an instance shares its limits.
 *
 * @param state {@code shared}, {@code instance} or {@code on-store-failure}
 * @param reason why the store fails; {@code null}: it does not
 * @param failingServers the names of the Redis servers that fail; empty if there is only one
 */
public record InstanceState(String state, @Nullable String reason, List<String> failingServers) {}
