package io.ratelimit.internal.store.contract;

import org.junit.jupiter.api.Nested;

/** The contracts of whatever decides by a limit's algorithm: of every store, and of the reference model. */
public abstract class DecisionContracts implements StoreFactory {

    @Nested
    class OneLimit extends OneLimitContract {}

    @Nested
    class SeveralLimits extends SeveralLimitsContract {}

    @Nested
    class EveryKind extends EveryAlgorithmContract {}

    @Nested
    class Examples extends AlgorithmExamplesContract {}

    @Nested
    class WorkedExamples extends WorkedExamplesContract {}

    @Nested
    class Reservations extends ReservationContract {}
}
