package io.ratelimit.internal.concurrent;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class PeriodicTaskTests {

    private final ManualScheduler scheduler = new ManualScheduler();

    private int runs;

    private long pause = 100;

    private final PeriodicTask task = new PeriodicTask(scheduler, this::work, () -> pause);

    private void work() {
        if (++runs == 1) {
            throw new NoClassDefFoundError("gone");
        }
    }

    @Test
    void nextRunIsPlannedWhateverTheWorkThrows() {
        task.start();
        for (int i = 0; i < 5; i++) {
            scheduler.runPlanned(100);
        }
        assertThat(runs).isEqualTo(5);
    }

    @Test
    void planReplacesTheRunThatIsPlanned() {
        task.start();
        pause = 7;
        task.plan();
        scheduler.runPlanned(7);
        pause = Long.MAX_VALUE;
        task.plan();
        assertThat(scheduler.planned()).isEmpty();
        assertThat(runs).isEqualTo(1);
    }

    @Test
    void stoppedTaskDoesNothingUntilItIsStartedAgain() {
        task.start();
        task.stop();
        scheduler.runPlanned(100);
        assertThat(runs).isZero();
        assertThat(scheduler.planned()).isEmpty();
        task.start();
        scheduler.runPlanned(100);
        assertThat(runs).isEqualTo(1);
    }

    @Test
    void closedSchedulerIsNoFailure() {
        task.close();
        task.start();
        assertThat(scheduler.planned()).isEmpty();
    }
}
