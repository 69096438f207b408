package io.ratelimit.statistics;

import org.jspecify.annotations.Nullable;

/**
 * Whether an instance shares its limits.
 *
 * @param state {@code shared}, {@code instance} or {@code on-store-failure}
 * @param reason why the store fails; {@code null}: it does not
 */
public record InstanceState(String state, @Nullable String reason) {}
