package io.ratelimit.aop;

import static io.ratelimit.autoconfigure.LimitedContexts.assertRejected;
import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.RateLimitDecision;
import io.ratelimit.annotation.RateLimited;
import io.ratelimit.autoconfigure.LimitedContexts;
import io.ratelimit.spi.RateLimitStore;
import io.ratelimit.testing.HeldStore;
import io.ratelimit.testing.StubStore;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.task.TaskExecutionAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Configuration;
import org.springframework.scheduling.annotation.Async;
import org.springframework.scheduling.annotation.EnableAsync;

/** Methods that run elsewhere are limited before they get there. */
class AsyncMethodTests {

    private final Mails target = new Mails();

    private final ApplicationContextRunner runner = LimitedContexts.inMemory()
            .withConfiguration(AutoConfigurations.of(TaskExecutionAutoConfiguration.class))
            .withPropertyValues("spring.task.execution.thread-name-prefix=app-")
            .withUserConfiguration(Config.class)
            .withBean(Mails.class, () -> target);

    @Test
    void callerOfOneThatReturnsNothingIsToldOfTheRejection() {
        runner.run(context -> {
            Mails mails = context.getBean(Mails.class);
            mails.send();
            assertThat(target.sent.join()).startsWith("app-");
            assertRejected("sends", mails::send);
        });
    }

    @Test
    void futureHoldsTheRejection() {
        runner.run(context -> {
            Mails mails = context.getBean(Mails.class);
            assertThat(mails.future().get()).startsWith("app-");
            assertRejected("futures", mails.future());
        });
    }

    @Test
    void completableFutureHoldsTheRejection() {
        runner.run(context -> {
            Mails mails = context.getBean(Mails.class);
            assertThat(mails.completableFuture().join()).startsWith("app-");
            assertRejected("completable-futures", mails.completableFuture());
        });
    }

    @Test
    void callerOfACompletableFutureDoesNotWaitForTheDecision() {
        StubStore answers = new StubStore();
        answers.answer(RateLimitDecision.ofMicros(1, 0, 0, 0, 1));
        HeldStore store = new HeldStore(answers);
        runner.withBean(RateLimitStore.class, () -> store).run(context -> {
            CompletableFuture<String> call = context.getBean(Mails.class).completableFuture();
            assertThat(call).isNotDone();
            store.answerOn("store");
            assertThat(call.join()).startsWith("app-");
        });
    }

    @Test
    void failureOfACompletableFutureRefunds() {
        StubStore store = new StubStore();
        store.answer(RateLimitDecision.ofMicros(1, 0, 0, 0, 1));
        runner.withBean(RateLimitStore.class, () -> store).run(context -> {
            CompletableFuture<String> call = context.getBean(Mails.class).failing();
            assertThat(call.handle((value, failure) -> failure).join()).isInstanceOf(IllegalStateException.class);
            assertThat(store.refunded()).isEqualTo(List.of(store.asked().get(0)));
        });
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAsync
    static class Config {}

    static class Mails {

        private final CompletableFuture<String> sent = new CompletableFuture<>();

        @Async
        @RateLimited(name = "sends", rate = "1/s")
        public void send() {
            sent.complete(Thread.currentThread().getName());
        }

        @Async
        @RateLimited(name = "futures", rate = "1/s")
        public Future<String> future() {
            return CompletableFuture.completedFuture(Thread.currentThread().getName());
        }

        @Async
        @RateLimited(name = "completable-futures", rate = "1/s")
        public CompletableFuture<String> completableFuture() {
            return CompletableFuture.completedFuture(Thread.currentThread().getName());
        }

        @Async
        @RateLimited(name = "failing", rate = "1/s", refundOn = IllegalStateException.class)
        public CompletableFuture<String> failing() {
            throw new IllegalStateException();
        }
    }
}
