package io.ratelimit.internal.store.contract;

import io.ratelimit.testing.BothTiers;
import io.ratelimit.testing.LimitKind;
import io.ratelimit.testing.TestRandom;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Two instances disagree about a limit's rule. Each decides by its own alone and counts by it all that is admitted, by
 * either: at random times they answer as two models do that are told of each other's calls.
 */
@BothTiers
public abstract class DifferingRulesContract extends ModelledRulesContract {

    /** Of each pair. */
    private static final int CALLS = TestRandom.cases(1_500);

    @ParameterizedTest
    @MethodSource("io.ratelimit.internal.store.contract.RulePairs#all")
    void eachRuleCountsWhatBothAdmit(LimitKind first, LimitKind second) {
        List<ModelledRule> rules = begin(List.of(RulePairs.larger(first), RulePairs.faster(second)));
        while (calls() < CALLS) {
            callByEachIfUnused(rules);
            call(rules.get(random.nextInt(rules.size())), rules);
        }
    }
}
