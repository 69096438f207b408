package io.ratelimit.testing;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import reactor.core.scheduler.Schedulers;

/** A JVM in which threads of Reactor wait for tasks already when {@link BlockingCalls} is used for the first time. */
final class LateInstallation {

    private static final int TASKS = 20;

    private LateInstallation() {}

    /** Ends with 0 if all tasks of Reactor's threads run, 1 otherwise, and 2 if one of them was seen to block. */
    public static void main(String[] args) throws InterruptedException {
        boolean before = run(0);
        while (Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().startsWith("parallel"))
                .anyMatch(thread -> thread.getState() != Thread.State.WAITING)) {
            Thread.onSpinWait();
        }
        boolean[] meanwhile = new boolean[1];
        // A thread whose next task is not due waits again, in the method that it was in before.
        boolean seen = !BlockingCalls.during(() -> meanwhile[0] = run(20)).isEmpty();
        boolean after = run(0);
        System.out.println("Before, meanwhile and after: " + before + ", " + meanwhile[0] + ", " + after);
        System.exit(before && meanwhile[0] && after ? seen ? 2 : 0 : 1);
    }

    private static boolean run(long delayMillis) {
        CountDownLatch tasks = new CountDownLatch(TASKS);
        for (int i = 0; i < TASKS; i++) {
            Schedulers.parallel().schedule(tasks::countDown, delayMillis, TimeUnit.MILLISECONDS);
        }
        try {
            return tasks.await(20, TimeUnit.SECONDS);
        } catch (InterruptedException ex) {
            return false;
        }
    }
}
