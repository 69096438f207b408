package io.ratelimit.actuate;

import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.actuate.endpoint.OperationResponseBody;

/**
 * Describes this instance and all limits.
 *
 * @param instance names this instance: its process and host
 * @param instances those that share the limits, the first one to start first; {@code null}: they are not known
 * @param figures whether the limits' calls are those of {@code all-instances}, or of this {@code instance} alone
 * @param limits by name
 */
public record RateLimitsDescriptor(
        StoreDescriptor store,
        String instance,
        @Nullable List<InstanceDescriptor> instances,
        @Nullable String figures,
        Map<String, LimitDescriptor> limits)
        implements OperationResponseBody {}
