package io.ratelimit.internal.concurrent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Test;

class TimeoutsTests {

    private static final Duration SOON = Duration.ofNanos(1);

    private static final Duration LATER = Duration.ofDays(1);

    @Test
    void workWhoseTimeIsOverFails() {
        CompletableFuture<String> work = new CompletableFuture<>();
        assertThat(Timeouts.fail(work, SOON)).isSameAs(work);
        assertThatThrownBy(work::join)
                .isInstanceOf(CompletionException.class)
                .hasCauseInstanceOf(TimeoutException.class);
    }

    @Test
    void workWhoseTimeIsOverHasTheValue() {
        assertThat(Timeouts.complete(new CompletableFuture<>(), "late", SOON).join())
                .isEqualTo("late");
    }

    @Test
    void workThatEndsInTimeKeepsItsResult() {
        CompletableFuture<String> work = Timeouts.complete(new CompletableFuture<>(), "late", LATER);
        work.complete("done");
        assertThat(Timeouts.fail(work, LATER).join()).isEqualTo("done");
    }

    /** It is shared by all applications of the JVM, and one that is undeployed must not stay. */
    @Test
    void threadKeepsNoClassLoaderOfAnApplication() {
        CompletableFuture<String> work = new CompletableFuture<>();
        CompletableFuture<Thread> thread = work.thenApply(done -> Thread.currentThread());
        var unused = Timeouts.complete(work, "late", SOON);
        assertThat(thread.join())
                .isInstanceOf(ServiceThread.class)
                .satisfies(timer -> assertThat(timer.getContextClassLoader()).isNull());
    }
}
