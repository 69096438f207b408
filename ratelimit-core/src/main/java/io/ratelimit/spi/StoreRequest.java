package io.ratelimit.spi;

import java.util.List;

/** Asks a store to decide the charges of one call. Most calls have one charge, which is a request itself. */
public sealed interface StoreRequest permits Charge, CombinedRequest {

    /**
     * Asks for all charges or none.
     *
     * @param charges at least one, and no two for the same bucket
     * @param refundable whether the outcome must contain a refund of what the charges take
     * @throws IllegalArgumentException if there is no charge, or two are for the same bucket
     */
    static StoreRequest of(List<Charge> charges, boolean refundable) {
        if (charges.size() == 1 && !refundable) {
            return charges.get(0);
        }
        CombinedRequest.checkDistinct(charges);
        return new CombinedRequest(charges, refundable, 0, false);
    }

    /** Asks for all charges or none, without a refund. */
    static StoreRequest of(List<Charge> charges) {
        return of(charges, false);
    }

    /** Asks for all charges or none, with a refund. */
    static StoreRequest refundable(List<Charge> charges) {
        return of(charges, true);
    }

    /**
     * Asks for one charge and for permits in advance.
     *
     * @param more how many permits beyond its own the charge wants if it is allowed
     */
    static StoreRequest lease(Charge charge, long more) {
        return new CombinedRequest(List.of(charge), true, more, false);
    }

    /** Asks what would be decided about the charge now, and charges nothing. */
    static StoreRequest peek(Charge charge) {
        return new CombinedRequest(List.of(charge), false, 0, true);
    }

    /** Returns the same request for other charges. */
    StoreRequest with(List<Charge> others);

    /** Returns all charges, at least one, no two for the same bucket. */
    List<Charge> charges();

    /** Returns whether there is only one charge. */
    boolean isSingle();

    /** Returns the first charge, which is often the only one. */
    Charge first();

    /** Returns whether the outcome must contain a refund of what the charges take. */
    default boolean refundable() {
        return false;
    }

    /** Returns whether nothing is charged. */
    default boolean isPeek() {
        return false;
    }

    /** Returns how many permits beyond its own the only charge wants in advance, if it is allowed; 0 for none. */
    default long more() {
        return 0;
    }

    /** Returns whether a charge is for a concurrency limit, so that its permits come back by a refund alone. */
    default boolean holdsPermits() {
        if (isSingle()) {
            return !first().limit().hasRate();
        }
        for (Charge charge : charges()) {
            if (!charge.limit().hasRate()) {
                return true;
            }
        }
        return false;
    }
}
