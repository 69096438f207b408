package io.ratelimit.memory;

import io.ratelimit.Charge;

/**
 * What a charge has taken.
 *
 * @param bucket where from: not the next one of the same key, when this one is forgotten
 * @param receipt what its section was right after the charge
 */
record ChargedPermits(Bucket bucket, CounterState receipt) {

    /** Hears what the charges of a call take. */
    @FunctionalInterface
    interface Listener {

        Listener NONE = (charge, bucket, charged) -> {};

        void onCharge(Charge charge, Bucket bucket, Assessment charged);
    }
}
