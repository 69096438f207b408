package io.ratelimit.internal.limiter;

import io.ratelimit.RateLimit;
import java.util.List;

/**
 * The limits of a method, for its description.
 *
 * @param limits the enabled limits; empty if the method is not limited
 * @param fallback whether a fallback method answers rejected calls
 */
public record MethodLimits(List<RateLimit> limits, boolean fallback) {

    public static final MethodLimits NONE = new MethodLimits(List.of(), false);
}
