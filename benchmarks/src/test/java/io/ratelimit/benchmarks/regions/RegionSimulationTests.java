package io.ratelimit.benchmarks.regions;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.benchmarks.regions.Design.WhileCut;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What docs/regions.md says of the designs holds for every demand. */
class RegionSimulationTests {

    private static final double OVERLOAD = 1.3;

    private final RegionSimulation simulation = new RegionSimulation(7);

    @ParameterizedTest
    @EnumSource
    void noDesignAdmitsTooManyWhileTheLinesHoldButBudgetsWhileTheyAreMoved(Demand demand) {
        for (RegionSimulation.Plan plan : RegionSimulation.PLANS) {
            Outcome outcome = simulation.run(plan, demand, OVERLOAD, false);
            assertThat(outcome.tooMany()).isBetween(0.0, plan == RegionSimulation.QUICK_BUDGETS ? 0.005 : 0);
            assertThat(outcome.admitted()).isBetween(0.05, 1.01);
        }
    }

    @ParameterizedTest
    @EnumSource
    void oneHomeAdmitsWhatOneBucketWould(Demand demand) {
        Outcome outcome = simulation.run(oneHome(WhileCut.LOCAL), demand, OVERLOAD, false);
        assertThat(outcome.admitted()).isBetween(0.99, 1.01);
        assertThat(outcome.millis(2, 0.5)).isBetween(149.0, 151.0);
    }

    @ParameterizedTest
    @EnumSource
    void equalSharesRejectWhatOtherRegionsLeaveUnlessTheyAreEvenlyUsed(Demand demand) {
        Outcome outcome = simulation.run(
                (timeline, wire) -> new Budgets(timeline, wire, RegionSimulation.CAPACITY, RegionSimulation.RATE, 0),
                demand,
                OVERLOAD,
                false);
        if (demand == Demand.EVEN) {
            assertThat(outcome.admitted()).isGreaterThan(0.98);
        } else {
            assertThat(outcome.admitted()).isLessThan(0.7);
        }
    }

    @ParameterizedTest
    @EnumSource
    void regionThatIsCutOffAdmitsItsShareMoreOrNothing(WhileCut whileCut) {
        Outcome outcome = simulation.run(oneHome(whileCut), Demand.EVEN, OVERLOAD, true);
        if (whileCut == WhileCut.LOCAL) {
            assertThat(outcome.tooMany()).isBetween(0.05, 1 / 3.0);
        } else {
            assertThat(outcome.tooMany()).isZero();
        }
    }

    private static RegionSimulation.Plan oneHome(WhileCut whileCut) {
        return (timeline, wire) ->
                new OneHome(timeline, wire, RegionSimulation.CAPACITY, RegionSimulation.RATE, 0, whileCut);
    }
}
