package io.ratelimit.limiter;

import io.ratelimit.Charge;
import java.util.List;

/**
 * Requests permits for one call.
 *
 * @param charges at least one, and no two to the same bucket
 * @param refundable whether the charges may be refunded later
 * @param listener receives the decisions of all limits
 */
public record AcquireRequest(List<Charge> charges, boolean refundable, CallListener listener) {}
