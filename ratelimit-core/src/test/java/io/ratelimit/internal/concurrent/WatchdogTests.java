package io.ratelimit.internal.concurrent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import io.ratelimit.testing.LogRecorder;
import java.lang.ref.WeakReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(180)
class WatchdogTests {

    private final ManualScheduler scheduler = new ManualScheduler();

    private final Watchdog watchdog = new Watchdog(scheduler);

    private final Part part = new Part();

    @Test
    void stuckPartIsResumedAndLoggedOnceAnIncident() {
        watchdog.watch(part, Part::check);
        try (LogRecorder log = LogRecorder.ofThisThread("io.ratelimit.watchdog")) {
            scheduler.runPlanned(1_000);
            assertThat(log.lines()).isEmpty();
            part.stuckFor = 3;
            for (int i = 0; i < 4; i++) {
                scheduler.runPlanned(1_000);
            }
            assertThat(part.resumed).isEqualTo(3);
            part.stuckFor = 1;
            scheduler.runPlanned(1_000);
            assertThat(log.lines())
                    .containsExactly(
                            "The part was stuck (found by the watchdog)", "The part was stuck (found by the watchdog)");
            assertThat(log.levels()).containsOnly("WARNING");
        }
    }

    @Test
    void checkThatFailsIsLoggedOnceAndKeepsNoOtherFromBeingChecked() {
        Object broken = new Object();
        watchdog.watch(broken, failing -> {
            throw new NoClassDefFoundError("gone");
        });
        watchdog.watch(part, Part::check);
        try (LogRecorder log = LogRecorder.ofThisThread("io.ratelimit.watchdog")) {
            scheduler.runPlanned(1_000);
            scheduler.runPlanned(1_000);
            assertThat(log.lines()).containsExactly("A check of the watchdog failed; its next failures are not logged");
        }
        assertThat(part.checked).isEqualTo(2);
        assertThat(broken).isNotNull();
    }

    @Test
    void roundsEndWithTheLastPart() {
        Object[] only = {new Object()};
        WeakReference<Object> weak = new WeakReference<>(only[0]);
        watchdog.watch(only[0], any -> part.check());
        scheduler.runPlanned(1_000);
        assertThat(part.checked).isEqualTo(1);
        only[0] = null;
        while (weak.get() != null) {
            System.gc();
        }
        scheduler.runPlanned(1_000);
        assertThat(scheduler.planned()).isEmpty();
        watchdog.watch(part, Part::check);
        scheduler.runPlanned(1_000);
        assertThat(part.checked).isEqualTo(2);
    }

    @Test
    void withoutAnyThreadTheNextPartTriesAgain() {
        scheduler.failToStart();
        try (LogRecorder log = LogRecorder.ofThisThread("io.ratelimit.watchdog")) {
            assertThatCode(() -> watchdog.watch(part, Part::check)).doesNotThrowAnyException();
            assertThat(log.lines())
                    .containsExactly("The watchdog could not be started; trying again with the next part");
        }
        watchdog.watch(part, Part::check);
        scheduler.runPlanned(1_000);
        assertThat(part.checked).isEqualTo(2);
    }

    private static final class Part {

        private int stuckFor;

        private int resumed;

        private int checked;

        private String check() {
            checked++;
            if (stuckFor == 0) {
                return null;
            }
            stuckFor--;
            resumed++;
            return "The part was stuck";
        }
    }
}
