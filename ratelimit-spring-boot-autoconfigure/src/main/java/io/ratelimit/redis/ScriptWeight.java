package io.ratelimit.redis;

import io.ratelimit.AlgorithmTraits;
import io.ratelimit.Charge;

/**
 * Weighs a charge by the time that the server needs to decide it, so that a script never keeps other clients waiting for long. A charge that reads and writes a few numbers weighs 1; a sliding window log also
 * searches its entries.
 */
final class ScriptWeight {

    private static final int LOG = 4;

    private ScriptWeight() {}

    static int of(Charge charge) {
        return AlgorithmTraits.of(charge.limit()).hasEntries() ? LOG : 1;
    }
}
