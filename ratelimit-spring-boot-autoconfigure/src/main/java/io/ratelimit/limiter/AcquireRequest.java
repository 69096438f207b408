package io.ratelimit.limiter;

import io.ratelimit.Charge;
import java.util.List;

/**
 * A call that asks to enter.
 *
 * @param charges at least one, and no two of one bucket
 * @param refundable whether what it takes may be given back
 * @param listener sees what all its limits said
 */
public record AcquireRequest(List<Charge> charges, boolean refundable, CallListener listener) {}
