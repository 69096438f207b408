package io.ratelimit.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.InputStream;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.ReentrantLock;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import reactor.blockhound.BlockingOperationError;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;
import reactor.test.StepVerifier;

/** That nothing was seen means something only if something can be seen. */
class BlockingCallsTests {

    enum Blocking {
        PERMIT {
            @Override
            void call() throws InterruptedException {
                assertThat(new Semaphore(0).tryAcquire(1, TimeUnit.MILLISECONDS))
                        .isFalse();
            }
        },
        /** As a caller waits that has turned an answer of Redis into a value. */
        FUTURE {
            @Override
            void call() throws Exception {
                try {
                    new CompletableFuture<>().get(1, TimeUnit.MILLISECONDS);
                } catch (TimeoutException ex) {
                    // There is no answer.
                }
            }
        };

        abstract void call() throws Exception;

        Mono<String> on(Scheduler scheduler) {
            return Mono.fromCallable(() -> {
                        call();
                        return "done";
                    })
                    .subscribeOn(scheduler);
        }
    }

    @BeforeAll
    static void install() {
        BlockingCalls.install();
    }

    @ParameterizedTest
    @EnumSource
    void callThatBlocksAParallelSchedulerIsSeenAndGoesOn(Blocking blocking) {
        assertThat(BlockingCalls.during(() -> completes(blocking.on(Schedulers.parallel()))))
                .isNotEmpty();
    }

    /** One that was left in the middle would keep its place in the lock's queue, and all behind it would wait forever. */
    @Test
    @Timeout(180)
    void lockIsLeftAsItShouldBe() {
        ReentrantLock lock = new ReentrantLock();
        Mono<String> locking = Mono.fromCallable(() -> {
                    lock.lock();
                    try {
                        return "done";
                    } finally {
                        lock.unlock();
                    }
                })
                .subscribeOn(Schedulers.parallel());
        List<BlockingOperationError> seen = BlockingCalls.during(() -> {
            CompletableFuture<String> locked;
            lock.lock();
            try {
                locked = locking.toFuture();
                await().until(lock::hasQueuedThreads);
            } finally {
                lock.unlock();
            }
            assertThat(locked).succeedsWithin(Duration.ofSeconds(60)).isEqualTo("done");
        });
        assertThat(seen).isNotEmpty();
        assertThat(lock.hasQueuedThreads()).isFalse();
    }

    /** In a JVM of its own: in this one, tests before have used BlockHound. */
    @LongRunning
    @Test
    @Timeout(300)
    void threadsFromBeforeGoOnAndAreNotLookedAt() throws Exception {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        ManagementFactory.getRuntimeMXBean().getInputArguments().stream()
                .filter(argument -> argument.startsWith("-XX:+"))
                .forEach(command::add);
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), LateInstallation.class.getName()));
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        try (InputStream output = process.getInputStream()) {
            String said = new String(output.readAllBytes(), StandardCharsets.UTF_8);
            assertThat(process.waitFor()).as(said).isZero();
        } finally {
            process.destroyForcibly();
        }
    }

    @ParameterizedTest
    @EnumSource
    void threadThatMayBeBlockedIsNotLookedAt(Blocking blocking) {
        assertThat(BlockingCalls.during(() -> completes(blocking.on(Schedulers.boundedElastic()))))
                .isEmpty();
    }

    @ParameterizedTest
    @EnumSource
    void nothingFailsOnceTheActionIsOver(Blocking blocking) {
        assertThat(BlockingCalls.during(() -> {})).isEmpty();
        completes(blocking.on(Schedulers.parallel()));
    }

    @Test
    void delayDoesNotBlock() {
        assertThat(BlockingCalls.during(
                        () -> completes(Mono.delay(Duration.ofMillis(1)).map(tick -> "done"))))
                .isEmpty();
    }

    private static void completes(Mono<String> mono) {
        StepVerifier.create(mono).expectNext("done").verifyComplete();
    }
}
