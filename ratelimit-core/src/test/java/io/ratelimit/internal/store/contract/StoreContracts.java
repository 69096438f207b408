package io.ratelimit.internal.store.contract;

import org.junit.jupiter.api.Nested;

/** The contracts of every store. A store's test class extends this and makes the store; a new contract is added here. */
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
    class RefundExactness extends RefundExactnessContract {}

    @Nested
    class SlidingWindowLogRefunds extends SlidingWindowLogRefundContract {}

    @Nested
    class Holding extends HoldingContract {}

    @Nested
    class HoldingTrace extends HoldingTraceContract {}

    @Nested
    class Refunds extends RefundContract {}

    @Nested
    class PlanRefunds extends PlanRefundContract {}

    @Nested
    class PlanRefundTrace extends PlanRefundTraceContract {}

    @Nested
    class Settlements extends SettlementContract {}

    @Nested
    class RefundOrder extends RefundOrderContract {}
}
