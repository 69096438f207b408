package io.ratelimit.internal.memory;

import io.ratelimit.spi.Charge;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What a charge has taken.
 *
 * @param bucket where from: not the next one of the same key, when this one is forgotten
 * @param receipt the state of the rule right after the charge
 * @param time of the charge, as the bucket knows it
 */
record ChargedPermits(Bucket bucket, CounterState receipt, long time) {

    /** @param receipts {@code null}: nothing will be refunded */
    static void add(@Nullable Map<Charge, ChargedPermits> receipts, Charge charge, Bucket bucket, Assessment charged) {
        if (receipts != null) {
            receipts.put(charge, charged.receipt(bucket));
        }
    }
}
