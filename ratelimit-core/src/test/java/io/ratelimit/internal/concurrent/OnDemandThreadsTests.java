package io.ratelimit.internal.concurrent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.ratelimit.testing.LogRecorder;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(180)
class OnDemandThreadsTests {

    private static final int MOST = 3;

    private final Watchdog watchdog = new Watchdog(new ManualScheduler());

    private final OnDemandThreads threads =
            new OnDemandThreads("demand", MOST, DaemonThreads.daemons("demand"), watchdog);

    private final CompletableFuture<Void> awaited = new CompletableFuture<>();

    private List<CompletableFuture<Void>> blockAllThreads() throws Exception {
        CountDownLatch blocked = new CountDownLatch(MOST);
        List<CompletableFuture<Void>> tasks = new ArrayList<>();
        for (int i = 0; i < MOST; i++) {
            tasks.add(CompletableFuture.runAsync(
                    () -> {
                        blocked.countDown();
                        awaited.join();
                    },
                    threads));
        }
        blocked.await();
        return tasks;
    }

    /** As continuations that wait for the release of a permit. */
    @Test
    void taskThatTheBlockedOnesWaitForRuns() throws Exception {
        try (LogRecorder log = new LogRecorder("io.ratelimit.watchdog")) {
            List<CompletableFuture<Void>> tasks = blockAllThreads();
            tasks.add(CompletableFuture.runAsync(awaited::join, threads));
            tasks.add(CompletableFuture.runAsync(() -> awaited.complete(null), threads));
            await().until(() -> {
                watchdog.checkAll();
                return tasks.stream().allMatch(CompletableFuture::isDone);
            });
            assertThat(ofThese(log))
                    .containsExactly(
                            "What the application does after asynchronous calls keeps all 3 threads 'demand' busy,"
                                    + " and more waits; starting a thread a second for it. Do not block there, as with join() or"
                                    + " get(): use thenCompose, or handleAsync with an executor of your own (found by the watchdog)");
        }
    }

    @Test
    void tasksThatDoNotWaitNeedNoHelp() throws Exception {
        try (LogRecorder log = new LogRecorder("io.ratelimit.watchdog")) {
            List<CompletableFuture<Void>> tasks = blockAllThreads();
            watchdog.checkAll();
            watchdog.checkAll();
            tasks.add(CompletableFuture.runAsync(() -> {}, threads));
            watchdog.checkAll();
            assertThat(tasks).noneMatch(CompletableFuture::isDone);
            awaited.complete(null);
            await().until(() -> tasks.stream().allMatch(CompletableFuture::isDone));
            watchdog.checkAll();
            assertThat(ofThese(log)).isEmpty();
        }
    }

    /** Other watchdogs of the JVM log, too. */
    private static List<String> ofThese(LogRecorder log) {
        return log.lines().stream().filter(line -> line.contains("'demand'")).toList();
    }
}
