package io.ratelimit.store;

import io.ratelimit.Charge;
import java.util.Collections;
import java.util.List;
import java.util.Objects;

/**
 * Asks a store to decide the charges of one call.
 *
 * @param charges at least one, and no two for the same bucket
 * @param refundable whether the outcome must contain a refund of what the charges take
 * @param more how many permits beyond its own the only charge wants in advance, if it is allowed; 0 for none
 */
public record StoreRequest(List<Charge> charges, boolean refundable, long more) {

    /** @throws IllegalArgumentException if two charges are for the same bucket */
    public StoreRequest {
        if (charges.size() > 1) {
            checkDistinct(charges);
        }
    }

    private static void checkDistinct(List<Charge> charges) {
        for (int i = 1; i < charges.size(); i++) {
            for (int j = 0; j < i; j++) {
                if (isSameBucket(charges.get(i), charges.get(j))) {
                    throw new IllegalArgumentException("Two charges of one call are for the same bucket");
                }
            }
        }
    }

    private static boolean isSameBucket(Charge one, Charge other) {
        return Objects.equals(one.key(), other.key())
                && one.limit().id().equals(other.limit().id());
    }

    /** Asks for one charge, without a refund. */
    public static StoreRequest of(Charge charge) {
        return of(Collections.singletonList(charge));
    }

    /** Asks for all charges or none, without a refund. */
    public static StoreRequest of(List<Charge> charges) {
        return new StoreRequest(charges, false, 0);
    }

    /** Asks for all charges or none, with a refund. */
    public static StoreRequest refundable(List<Charge> charges) {
        return new StoreRequest(charges, true, 0);
    }

    /** Asks for one charge and for permits in advance. */
    public static StoreRequest lease(Charge charge, long more) {
        return new StoreRequest(List.of(charge), true, more);
    }

    /** Returns the same request for other charges. */
    public StoreRequest with(List<Charge> others) {
        return new StoreRequest(others, refundable, more);
    }
}
