package io.ratelimit.benchmarks.results;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class PairedRatiosTests {

    @Test
    void aTurnIsComparedWithTheMeanOfTheFloorsBesideIt() {
        assertThat(PairedRatios.ratio(90, 50, 110)).isEqualTo(0.5);
    }

    @Test
    void aMachineThatSlowsDownEvenlyChangesNoRatio() {
        assertThat(PairedRatios.ratio(100, 2 * 90, 80)).isEqualTo(PairedRatios.ratio(100, 2 * 100, 100));
    }
}
