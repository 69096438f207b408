package io.ratelimit.spi;

import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Asks a store to decide the charges of one call. Most calls have one charge, which needs no list then. */
public final class StoreRequest {

    private final Charge first;

    /** {@code null}: the first is the only one, and nothing has asked for the list. */
    private @Nullable List<Charge> charges;

    private final boolean refundable;

    private final long more;

    private StoreRequest(Charge first, @Nullable List<Charge> charges, boolean refundable, long more) {
        this.first = first;
        this.charges = charges;
        this.refundable = refundable;
        this.more = more;
    }

    /** Asks for one charge, without a refund. */
    public static StoreRequest of(Charge charge) {
        return new StoreRequest(charge, null, false, 0);
    }

    /**
     * Asks for all charges or none.
     *
     * @param charges at least one, and no two for the same bucket
     * @param refundable whether the outcome must contain a refund of what the charges take
     * @throws IllegalArgumentException if there is no charge, or two are for the same bucket
     */
    public static StoreRequest of(List<Charge> charges, boolean refundable) {
        checkNotEmpty(charges);
        if (charges.size() > 1) {
            checkDistinct(charges);
        }
        return new StoreRequest(charges.get(0), List.copyOf(charges), refundable, 0);
    }

    /** Asks for all charges or none, without a refund. */
    public static StoreRequest of(List<Charge> charges) {
        return of(charges, false);
    }

    /** Asks for all charges or none, with a refund. */
    public static StoreRequest refundable(List<Charge> charges) {
        return of(charges, true);
    }

    /**
     * Asks for one charge and for permits in advance.
     *
     * @param more how many permits beyond its own the charge wants if it is allowed
     */
    public static StoreRequest lease(Charge charge, long more) {
        return new StoreRequest(charge, null, true, more);
    }

    /** Returns the same request for other charges. */
    public StoreRequest with(List<Charge> others) {
        checkNotEmpty(others);
        return new StoreRequest(others.get(0), List.copyOf(others), refundable, more);
    }

    private static void checkNotEmpty(List<Charge> charges) {
        if (charges.isEmpty()) {
            throw new IllegalArgumentException("A request must have at least one charge");
        }
    }

    private static void checkDistinct(List<Charge> charges) {
        for (int i = 1; i < charges.size(); i++) {
            for (int j = 0; j < i; j++) {
                if (charges.get(i).isForSameBucket(charges.get(j))) {
                    throw new IllegalArgumentException("Two charges of one call are for the same bucket");
                }
            }
        }
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof StoreRequest request
                && charges().equals(request.charges())
                && refundable == request.refundable
                && more == request.more;
    }

    @Override
    public int hashCode() {
        return Objects.hash(charges(), refundable, more);
    }

    @Override
    public String toString() {
        return charges() + (refundable ? ", refundable" : "") + (more > 0 ? ", " + more + " more" : "");
    }

    /** Returns all charges, at least one, no two for the same bucket. */
    public List<Charge> charges() {
        List<Charge> all = charges;
        if (all == null) {
            all = List.of(first);
            charges = all;
        }
        return all;
    }

    /** Returns whether there is only one charge. */
    public boolean isSingle() {
        List<Charge> all = charges;
        return all == null || all.size() == 1;
    }

    /** Returns the first charge, which is often the only one. */
    public Charge first() {
        return first;
    }

    /** Returns whether the outcome must contain a refund of what the charges take. */
    public boolean refundable() {
        return refundable;
    }

    /** Returns whether a charge is for a concurrency limit, so that its permits come back by a refund alone. */
    public boolean holdsPermits() {
        if (isSingle()) {
            return !first.limit().hasRate();
        }
        for (Charge charge : charges()) {
            if (!charge.limit().hasRate()) {
                return true;
            }
        }
        return false;
    }

    /** Returns how many permits beyond its own the only charge wants in advance, if it is allowed; 0 for none. */
    public long more() {
        return more;
    }
}
