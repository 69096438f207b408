package io.ratelimit.internal.store.contract;

import org.junit.jupiter.api.Nested;

/**
 * The contracts of every store, but those of {@link CallEndContracts}. A store's test class extends this and makes the store; a
 * new contract is added here.
 */
public abstract class StoreContracts extends DecisionContracts {

    @Nested
    class Clock extends ClockContract {}

    @Nested
    class Blocking extends BlockingContract {}

    @Nested
    class Calendar extends CalendarWindowContract {}

    @Nested
    class ChangedLimit extends ChangedLimitContract {}

    @Nested
    class RulesInTurns extends AlternatingRulesContract {}

    @Nested
    class ManyRules extends ManyRulesContract {}

    @Nested
    class EveryRuleCounts extends DifferingRulesContract {}

    @Nested
    class Plans extends PlanContract {}

    @Nested
    class Holding extends HoldingContract {}

    @Nested
    class HoldingTrace extends HoldingTraceContract {}
}
