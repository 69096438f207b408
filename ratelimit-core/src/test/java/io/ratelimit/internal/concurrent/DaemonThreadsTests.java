package io.ratelimit.internal.concurrent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(180)
class DaemonThreadsTests {

    private final Executor threads = DaemonThreads.createOnDemand("demand", 2);

    private final Executor service = DaemonThreads.createService("service", 1, 1);

    @Test
    void idleThreadIsUsedBeforeAnotherIsCreated() {
        Thread first = run().join();
        for (int i = 0; i < 10; i++) {
            await().until(() -> first.getState() == Thread.State.TIMED_WAITING);
            assertThat(run().join()).isSameAs(first);
        }
    }

    @Test
    void taskWaitsOnceAllThreadsAreBusy() {
        CountDownLatch started = new CountDownLatch(2);
        CountDownLatch end = new CountDownLatch(1);
        List<CompletableFuture<Thread>> busy = Stream.generate(() -> CompletableFuture.supplyAsync(
                        () -> {
                            started.countDown();
                            await().until(() -> end.getCount() == 0);
                            return Thread.currentThread();
                        },
                        threads))
                .limit(2)
                .toList();
        await().until(() -> started.getCount() == 0);
        CompletableFuture<Thread> waiting = run();
        CompletableFuture<Thread> last = run();
        assertThat(Stream.of(waiting, last)).noneMatch(CompletableFuture::isDone);
        end.countDown();
        assertThat(busy.stream().map(CompletableFuture::join)).contains(waiting.join(), last.join());
        assertThat(waiting.join().isDaemon()).isTrue();
        assertThat(waiting.join().getName()).isEqualTo("demand");
    }

    /** The first caller of a thread is not its last one. */
    @Test
    void threadInheritsTheClassLoaderOfTheCreatorAndNoThreadLocals() {
        ThreadLocal<String> user = new InheritableThreadLocal<>();
        user.set("alice");
        ClassLoader own = Thread.currentThread().getContextClassLoader();
        Thread.currentThread().setContextClassLoader(new ClassLoader(own) {});
        try {
            assertThat(Stream.of(threads, service))
                    .allSatisfy(each -> assertThat(seen(each, user::get)).isNull())
                    .allSatisfy(each -> assertThat(
                                    seen(each, () -> Thread.currentThread().getContextClassLoader()))
                            .isSameAs(own));
        } finally {
            Thread.currentThread().setContextClassLoader(own);
            user.remove();
        }
    }

    private static <T> T seen(Executor threads, Supplier<T> on) {
        return CompletableFuture.supplyAsync(on, threads).join();
    }

    private CompletableFuture<Thread> run() {
        return CompletableFuture.supplyAsync(Thread::currentThread, threads);
    }
}
