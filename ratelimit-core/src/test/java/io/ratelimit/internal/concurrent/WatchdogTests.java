package io.ratelimit.internal.concurrent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import io.ratelimit.testing.LogRecorder;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(180)
class WatchdogTests {

    private final List<Runnable> threads = new ArrayList<>();

    private final Watchdog watchdog = new Watchdog(threads::add, () -> {});

    private final Part part = new Part();

    @Test
    void stuckPartIsResumedAndLoggedOnceAnIncident() {
        watchdog.watch(part, Part::check);
        try (LogRecorder log = LogRecorder.ofThisThread("io.ratelimit.watchdog")) {
            watchdog.checkAll();
            assertThat(log.lines()).isEmpty();
            part.stuckFor = 3;
            for (int i = 0; i < 4; i++) {
                watchdog.checkAll();
            }
            assertThat(part.resumed).isEqualTo(3);
            part.stuckFor = 1;
            watchdog.checkAll();
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
            watchdog.checkAll();
            watchdog.checkAll();
            assertThat(log.lines()).containsExactly("A check of the watchdog failed; its next failures are not logged");
        }
        assertThat(part.checked).isEqualTo(2);
        assertThat(broken).isNotNull();
    }

    @Test
    void allPartsShareOneThreadWhichThereIsOnlyOnceThereIsAPart() {
        assertThat(threads).isEmpty();
        watchdog.watch(part, Part::check);
        watchdog.watch(new Part(), Part::check);
        assertThat(threads).hasSize(1);
    }

    @Test
    void withoutAnyThreadTheNextPartTriesAgain() {
        AtomicInteger tries = new AtomicInteger();
        Executor scarce = task -> {
            if (tries.incrementAndGet() == 1) {
                throw new OutOfMemoryError("unable to create native thread");
            }
            threads.add(task);
        };
        Watchdog poor = new Watchdog(scarce, () -> {});
        assertThatCode(() -> poor.watch(part, Part::check)).doesNotThrowAnyException();
        assertThat(threads).isEmpty();
        poor.watch(part, Part::check);
        assertThat(threads).hasSize(1);
    }

    @Test
    void roundsGoOnWhateverIsThrownAndEndWithTheLastPart() throws InterruptedException {
        AtomicInteger pauses = new AtomicInteger();
        Semaphore rounds = new Semaphore(0);
        Watchdog running = new Watchdog(threads::add, () -> {
            rounds.acquire();
            switch (pauses.incrementAndGet()) {
                case 1 -> throw new OutOfMemoryError("Java heap space");
                case 2 -> throw new InterruptedException();
                default -> {}
            }
        });
        Object[] only = {new Object()};
        WeakReference<Object> weak = new WeakReference<>(only[0]);
        running.watch(only[0], any -> part.check());
        Thread thread = new Thread(threads.get(0));
        thread.setDaemon(true);
        thread.start();
        rounds.release(4);
        part.checks.acquire(2);
        only[0] = null;
        while (weak.get() != null) {
            System.gc();
        }
        rounds.release();
        thread.join();
    }

    private static final class Part {

        private final Semaphore checks = new Semaphore(0);

        private int stuckFor;

        private int resumed;

        private int checked;

        private String check() {
            checked++;
            checks.release();
            if (stuckFor == 0) {
                return null;
            }
            stuckFor--;
            resumed++;
            return "The part was stuck";
        }
    }
}
