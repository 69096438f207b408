package io.ratelimit.testing;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Test;
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
        SLEEP {
            @Override
            void call() throws InterruptedException {
                Thread.sleep(1);
            }
        },
        /** As a caller waits who has turned an answer of Redis into a value. */
        FUTURE {
            @Override
            void call() throws Exception {
                try {
                    new CompletableFuture<>().get(1, TimeUnit.MILLISECONDS);
                } catch (TimeoutException ex) {
                    // Nobody answers.
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

    @ParameterizedTest
    @EnumSource
    void callThatBlocksAParallelSchedulerFailsAndIsSeen(Blocking blocking) {
        List<BlockingOperationError> seen = BlockingCalls.during(() ->
                StepVerifier.create(blocking.on(Schedulers.parallel())).verifyError(BlockingOperationError.class));
        assertThat(seen).hasSize(1);
    }

    @ParameterizedTest
    @EnumSource
    void itIsSeenEvenIfTheFailureIsSwallowed(Blocking blocking) {
        List<BlockingOperationError> seen = BlockingCalls.during(
                () -> StepVerifier.create(blocking.on(Schedulers.parallel()).onErrorReturn("failed over"))
                        .expectNext("failed over")
                        .verifyComplete());
        assertThat(seen).hasSize(1);
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
