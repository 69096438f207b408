package io.ratelimit.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class ProcessorTimeTests {

    private static final String TIMES = ") S 1 2 3 4 5 6 7 8 9 10 120 30 13 14";

    @Test
    void ticksAreThoseOfTheThreadAndOfTheKernelForIt() {
        assertThat(ProcessorTime.ticks("4711 (main" + TIMES)).isEqualTo(150);
    }

    @Test
    void nameMayHaveSpacesAndParentheses() {
        assertThat(ProcessorTime.ticks("4711 (caller (1) of 2" + TIMES)).isEqualTo(150);
    }

    @Test
    void compilersDoNotCount() {
        assertThat(ProcessorTime.ticks("4711 (C2 CompilerThre" + TIMES)).isZero();
        assertThat(ProcessorTime.ticks("4711 (C1 CompilerThre" + TIMES)).isZero();
    }
}
