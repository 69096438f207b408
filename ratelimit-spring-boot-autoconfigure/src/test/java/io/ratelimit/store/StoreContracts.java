package io.ratelimit.store;

import org.junit.jupiter.api.Nested;

/** The contracts of every store. A store's test class extends this and makes the store; a new contract is added here. */
public abstract class StoreContracts extends DecisionContracts {

    @Nested
    class Clock extends ClockContract {}

    @Nested
    class ChangedLimit extends ChangedLimitContract {}

    @Nested
    class RulesInTurns extends RulesInTurnsContract {}

    @Nested
    class EveryRuleCounts extends EveryRuleCountsContract {}

    @Nested
    class GiveBack extends GiveBackContract {}

    @Nested
    class LogGiveBack extends LogGiveBackContract {}

    @Nested
    class Refunds extends RefundContract {}
}
