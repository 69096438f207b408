package io.ratelimit.aop;

import static io.ratelimit.autoconfigure.LimitedContexts.assertRejected;
import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.Algorithm;
import io.ratelimit.annotation.RateLimited;
import io.ratelimit.autoconfigure.LimitedContexts;
import io.ratelimit.spi.RateLimitStore;
import io.ratelimit.testing.StubStore;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;
import reactor.test.StepVerifier;

/** Methods whose caller waits, called on a thread that must not. */
class EventLoopTests {

    private final StubStore slow = new StubStore();

    private final ApplicationContextRunner inMemory = LimitedContexts.inMemory().withBean(Quotes.class);

    @Test
    void callThatWouldWaitForTheStoreIsRefusedBeforeItAsks() {
        inMemory.withBean(RateLimitStore.class, () -> slow).run(context -> {
            Quotes quotes = context.getBean(Quotes.class);
            assertThat(onParallel(quotes::plain))
                    .isInstanceOf(IllegalStateException.class)
                    .extracting(Object::toString)
                    .asString()
                    .contains(": a call would have to wait on thread parallel-")
                    .contains(
                            "Add .subscribeOn(Schedulers.boundedElastic()) to the Mono.fromCallable",
                            ".publishOn(Schedulers.boundedElastic()) before the operator",
                            "return a Mono, a Flux or a CompletionStage");
            assertThat(slow.asked()).isEmpty();
        });
    }

    @Test
    @SuppressWarnings("FutureReturnValueIgnored") // It is looked at.
    void futureSaysThatItIsRefused() {
        inMemory.withBean(RateLimitStore.class, () -> slow).run(context -> {
            Quotes quotes = context.getBean(Quotes.class);
            Object future = onParallel(quotes::future);
            assertThat((Future<?>) future)
                    .failsWithin(Duration.ZERO)
                    .withThrowableThat()
                    .withCauseInstanceOf(IllegalStateException.class);
        });
    }

    @Test
    void callThatMightWaitForPermitsIsRefusedBeforeItTakesAny() {
        inMemory.run(context -> {
            Quotes quotes = context.getBean(Quotes.class);
            assertThat(onParallel(quotes::spaced)).isInstanceOf(IllegalStateException.class);
            assertThat(onParallel(quotes::patient)).isInstanceOf(IllegalStateException.class);
            assertThat(quotes.spaced()).isEqualTo("spaced");
            assertThat(quotes.patient()).isEqualTo("patient");
        });
    }

    @Test
    void operatorsThatTheMessageNamesLetTheCallWait() {
        inMemory.run(context -> {
            Quotes quotes = context.getBean(Quotes.class);
            Mono<String> called = Mono.fromCallable(quotes::patient).subscribeOn(Schedulers.boundedElastic());
            Mono<String> mapped =
                    Mono.just("").publishOn(Schedulers.boundedElastic()).map(any -> quotes.spaced());
            StepVerifier.create(called.concatWith(mapped).subscribeOn(Schedulers.parallel()))
                    .expectNext("patient", "spaced")
                    .verifyComplete();
        });
    }

    @Test
    void noCallWaitsForALimitInDryRun() {
        inMemory.withPropertyValues("ratelimit.dry-run=true")
                .run(context -> assertThat(onParallel(context.getBean(Quotes.class)::spaced))
                        .isEqualTo("spaced"));
    }

    @Test
    void inMemoryThereIsNothingToWaitFor() {
        inMemory.run(context -> {
            Quotes quotes = context.getBean(Quotes.class);
            assertThat(onParallel(quotes::plain)).isEqualTo("plain");
            assertRejected("plain", quotes::plain);
        });
    }

    @Test
    void callThatIsNotLimitedGoesOn() {
        inMemory.withBean(RateLimitStore.class, () -> slow)
                .withPropertyValues("ratelimit.limits.plain.condition=false")
                .run(context -> assertThat(onParallel(context.getBean(Quotes.class)::plain))
                        .isEqualTo("plain"));
    }

    private static Object onParallel(Callable<?> call) {
        return Mono.fromCallable(call)
                .cast(Object.class)
                .subscribeOn(Schedulers.parallel())
                .onErrorResume(Mono::just)
                .block();
    }

    static class Quotes {

        @RateLimited(name = "plain", rate = "1/h")
        public String plain() {
            return "plain";
        }

        @RateLimited(name = "future", rate = "1/h")
        public Future<String> future() {
            return CompletableFuture.completedFuture("future");
        }

        @RateLimited(name = "spaced", rate = "1/h", algorithm = Algorithm.LEAKY_BUCKET)
        public String spaced() {
            return "spaced";
        }

        @RateLimited(name = "patient", rate = "1/h", maxWait = "1s")
        public String patient() {
            return "patient";
        }
    }
}
