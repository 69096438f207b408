package io.ratelimit.internal.concurrent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.time.Duration;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.ForkJoinPool;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(180)
class BoundedWaitTests {

    private final ForkJoinPool pool = new ForkJoinPool(1);

    /** As any future if the pool is that of {@link CompletableFuture#supplyAsync}. */
    private final class Work extends CompletableFuture<String> {

        @Override
        public Executor defaultExecutor() {
            return pool;
        }
    }

    @AfterEach
    void stop() {
        pool.shutdownNow();
    }

    /** The wait would take as long as they do. */
    @Test
    void noOtherTasksRunInAWaitOnAThreadOfAPool() {
        Set<Thread> others = ConcurrentHashMap.newKeySet();
        boolean ran = pool.submit(() -> {
                    var unused = CompletableFuture.runAsync(() -> others.add(Thread.currentThread()), pool);
                    BoundedWait.await(new Work(), Duration.ofMillis(50));
                    return others.contains(Thread.currentThread());
                })
                .join();
        assertThat(ran).isFalse();
    }

    @Test
    void waitOnAThreadOfAPoolEndsWithTheWork() {
        Work work = new Work();
        CompletableFuture<String> waiting =
                CompletableFuture.supplyAsync(() -> BoundedWait.get(work, Duration.ofDays(1)), pool);
        work.complete("done");
        assertThat(waiting).succeedsWithin(Duration.ofSeconds(60)).isEqualTo("done");
    }

    @Test
    void interruptEndsOnlyAnInterruptibleWaitOnAThreadOfAPool() {
        boolean interrupted = pool.submit(() -> {
                    Thread.currentThread().interrupt();
                    BoundedWait.await(new Work(), Duration.ofMillis(1));
                    assertThatExceptionOfType(InterruptedException.class)
                            .isThrownBy(() -> BoundedWait.awaitInterruptibly(new Work(), Duration.ofDays(1)));
                    return true;
                })
                .join();
        assertThat(interrupted).isTrue();
    }
}
