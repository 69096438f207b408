package io.ratelimit.actuate;

import java.util.Map;
import org.springframework.boot.actuate.endpoint.OperationResponseBody;

/**
 * Describes this instance and all limits.
 *
 * @param instance names this instance: its process and host
 * @param limits by name
 */
public record LimitsDescriptor(StoreDescriptor store, String instance, Map<String, LimitDescriptor> limits)
        implements OperationResponseBody {}
