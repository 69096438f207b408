package io.ratelimit.store;

import org.junit.jupiter.api.Nested;

/** The contracts of whatever decides by a limit's algorithm: of every store, and of the reference model. */
public abstract class DecisionContracts implements StoreFactory {

    @Nested
    class OneLimit extends RateLimitStoreContract {}

    @Nested
    class SeveralLimits extends SeveralLimitsContract {}

    @Nested
    class EveryKind extends EveryKindContract {}

    @Nested
    class Examples extends AlgorithmExamplesContract {}

    @Nested
    class WorkedExamples extends WorkedExamplesContract {}

    @Nested
    class Reservations extends ReservationContract {}
}
