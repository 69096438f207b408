package io.ratelimit.spi;

import java.util.List;

/** A request for more than one charge alone. */
record CombinedRequest(List<Charge> charges, boolean refundable, long more, boolean isPeek) implements StoreRequest {

    CombinedRequest {
        if (charges.isEmpty()) {
            throw new IllegalArgumentException("A request must have at least one charge");
        }
        charges = List.copyOf(charges);
    }

    static void checkDistinct(List<Charge> charges) {
        for (int i = 1; i < charges.size(); i++) {
            for (int j = 0; j < i; j++) {
                if (charges.get(i).isForSameBucket(charges.get(j))) {
                    throw new IllegalArgumentException("Two charges of one call are for the same bucket");
                }
            }
        }
    }

    @Override
    public StoreRequest with(List<Charge> others) {
        return new CombinedRequest(others, refundable, more, isPeek);
    }

    @Override
    public boolean isSingle() {
        return charges.size() == 1;
    }

    @Override
    public Charge first() {
        return charges.get(0);
    }
}
