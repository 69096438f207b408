package io.ratelimit.reactor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.mockito.ArgumentMatchers.anyLong;
import static org.mockito.ArgumentMatchers.anyString;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;

import io.ratelimit.RateLimitExceededException;
import io.ratelimit.RateLimiter;
import io.ratelimit.RateLimiterRegistry;
import io.ratelimit.autoconfigure.RateLimitAutoConfiguration;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.reactivestreams.Subscription;
import org.springframework.boot.test.util.TestPropertyValues;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import reactor.core.Disposable;
import reactor.core.publisher.BaseSubscriber;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.core.scheduler.Schedulers;

@Timeout(180)
class RateLimiterOperatorTests {

    private static final Duration SOON = Duration.ofSeconds(60);

    private final AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext();

    private RateLimiter rate;

    private RateLimiter one;

    private RateLimiter waiting;

    @BeforeEach
    void start() {
        TestPropertyValues.of(
                        "ratelimit.store=in-memory",
                        "ratelimit.limits.rate.rate=2/h",
                        "ratelimit.limits.one.algorithm=concurrency",
                        "ratelimit.limits.one.capacity=1",
                        "ratelimit.limits.waiting.algorithm=concurrency",
                        "ratelimit.limits.waiting.max-wait=1h",
                        "ratelimit.limits.waiting.capacity=1")
                .applyTo(context);
        context.register(RateLimitAutoConfiguration.class);
        context.refresh();
        RateLimiterRegistry registry = context.getBean(RateLimiterRegistry.class);
        rate = registry.get("rate");
        one = registry.get("one");
        waiting = registry.get("waiting");
    }

    @AfterEach
    void stop() {
        context.close();
    }

    private static long free(RateLimiter limiter) {
        return limiter.peek("alice").remaining();
    }

    @Test
    void everySubscriptionIsACall() {
        AtomicInteger subscriptions = new AtomicInteger();
        Mono<Integer> quote =
                Mono.fromSupplier(subscriptions::incrementAndGet).transform(RateLimiterOperator.of(rate, "alice"));
        assertThat(free(rate)).isEqualTo(2);
        assertThat(quote.block(SOON)).isEqualTo(1);
        assertThat(quote.block(SOON)).isEqualTo(2);
        assertThatExceptionOfType(RateLimitExceededException.class)
                .isThrownBy(() -> quote.block(SOON))
                .satisfies(ex -> assertThat(ex.getLimitName()).isEqualTo("rate"));
        assertThat(subscriptions).hasValue(2);
    }

    @Test
    void retryIsAnotherCall() {
        Flux<String> failing = Flux.<String>error(new IllegalStateException("expected"))
                .transform(RateLimiterOperator.of(rate, "alice"));
        assertThatExceptionOfType(RateLimitExceededException.class)
                .isThrownBy(() -> failing.retry(5).blockLast(SOON));
        assertThat(free(rate)).isZero();
    }

    @Test
    void takesAsManyPermitsAsIsSaidOfOneBucketOrThatOfAllCallers() {
        Mono.just("a").transform(RateLimiterOperator.of(rate, "alice", 2)).block(SOON);
        assertThat(free(rate)).isZero();
        assertThat(rate.peek("bob").remaining()).isEqualTo(2);
        Mono.just("a").transform(RateLimiterOperator.of(rate.allCallers())).block(SOON);
        assertThat(rate.allCallers().peek().remaining()).isEqualTo(1);
    }

    @Test
    void wrongArgumentIsAnErrorSignal() {
        Mono<String> keyless = Mono.just("a").transform(RateLimiterOperator.of(rate, ""));
        assertThatExceptionOfType(IllegalArgumentException.class).isThrownBy(() -> keyless.block(SOON));
    }

    @Test
    void publishersKeepTheirKind() {
        assertThat(RateLimiterOperator.<String>of(rate.allCallers()).apply(Mono.empty()))
                .isInstanceOf(Mono.class);
        assertThat(RateLimiterOperator.<String>of(rate.allCallers()).apply(Flux.empty()))
                .isInstanceOf(Flux.class);
        assertThat(Mono.<String>empty()
                        .transform(RateLimiterOperator.of(rate, "alice"))
                        .blockOptional(SOON))
                .isEmpty();
    }

    @Test
    void permitsAreHeldUntilTheStreamEndsAndReleasedBeforeItsSubscriberKnows() {
        Sinks.Many<String> source = Sinks.many().unicast().onBackpressureBuffer();
        List<String> seen = new CopyOnWriteArrayList<>();
        source.asFlux()
                .transform(RateLimiterOperator.of(one, "alice"))
                .subscribe(
                        value -> seen.add(value + " " + free(one)), failure -> {}, () -> seen.add("end " + free(one)));
        assertThat(free(one)).isZero();
        source.tryEmitNext("a").orThrow();
        source.tryEmitNext("b").orThrow();
        source.tryEmitComplete().orThrow();
        assertThat(seen).containsExactly("a 0", "b 0", "end 1");
    }

    @Test
    void valueOfAMonoIsItsEnd() {
        List<Long> seen = new ArrayList<>();
        Mono.just("a").transform(RateLimiterOperator.of(one, "alice")).subscribe(value -> seen.add(free(one)));
        assertThat(seen).containsExactly(1L);
    }

    @Test
    void failureReleasesBeforeItsSubscriberKnows() {
        List<Long> seen = new ArrayList<>();
        Flux.error(new IllegalStateException("expected"))
                .transform(RateLimiterOperator.of(one, "alice"))
                .subscribe(value -> {}, failure -> seen.add(free(one)));
        assertThat(seen).containsExactly(1L);
    }

    static Stream<Flux<Object>> publishersThatFailWithALinkageError() {
        NoClassDefFoundError error = new NoClassDefFoundError("com/acme/Missing");
        return Stream.of(
                Flux.error(error),
                Flux.just(1).map(value -> {
                    throw error;
                }),
                Flux.defer(() -> {
                    throw error;
                }),
                Mono.fromCallable(() -> {
                            throw error;
                        })
                        .flux());
    }

    /** Reactor throws it, and an operator can even throw what is signalled. */
    @ParameterizedTest
    @MethodSource("publishersThatFailWithALinkageError")
    void linkageErrorEndsTheCallAtOnceAndAfterAWait(Flux<Object> failing) {
        CompletableFuture<List<Object>> call = failing.transform(RateLimiterOperator.of(waiting, "alice"))
                .collectList()
                .toFuture();
        assertThat(call).failsWithin(SOON).withThrowableThat().withRootCauseInstanceOf(NoClassDefFoundError.class);
        RateLimiter.Entry first = waiting.enter("alice");
        CompletableFuture<List<Object>> later = failing.transform(RateLimiterOperator.of(waiting, "alice"))
                .collectList()
                .toFuture();
        first.close();
        assertThat(later).failsWithin(SOON).withThrowableThat().withRootCauseInstanceOf(NoClassDefFoundError.class);
        assertThat(free(waiting)).isEqualTo(1);
    }

    @Test
    void cancelReleases() {
        Disposable stream =
                Flux.never().transform(RateLimiterOperator.of(one, "alice")).subscribe();
        assertThat(free(one)).isZero();
        stream.dispose();
        assertThat(free(one)).isEqualTo(1);
        assertThat(Flux.range(0, 10)
                        .transform(RateLimiterOperator.of(one, "alice"))
                        .take(3)
                        .collectList()
                        .block(SOON))
                .containsExactly(0, 1, 2);
        assertThat(free(one)).isEqualTo(1);
    }

    @Test
    void rejectedSubscriptionReachesNoPublisher() {
        one.enter("alice");
        AtomicInteger subscriptions = new AtomicInteger();
        Flux<Object> limited = Flux.never()
                .doOnSubscribe(unused -> subscriptions.incrementAndGet())
                .transform(RateLimiterOperator.of(one, "alice"));
        assertThatExceptionOfType(RateLimitExceededException.class).isThrownBy(() -> limited.blockFirst(SOON));
        assertThat(subscriptions).hasValue(0);
    }

    @Test
    void waitsWithoutAThreadAndStopsWhenItIsCancelled() {
        RateLimiter.Entry first = waiting.enter("alice");
        List<String> seen = new CopyOnWriteArrayList<>();
        Disposable cancelled = Mono.just("a")
                .transform(RateLimiterOperator.of(waiting, "alice"))
                .subscribe(seen::add);
        CompletableFuture<String> admitted = Mono.just("b")
                .transform(RateLimiterOperator.of(waiting, "alice"))
                .toFuture();
        cancelled.dispose();
        assertThat(admitted).isNotDone();
        first.close();
        assertThat(admitted).succeedsWithin(SOON).isEqualTo("b");
        assertThat(seen).isEmpty();
        assertThat(free(waiting)).isEqualTo(1);
    }

    @Test
    void requestsPassUnchanged() {
        List<Long> requested = new ArrayList<>();
        BaseSubscriber<Integer> subscriber = new BaseSubscriber<>() {
            @Override
            protected void hookOnSubscribe(Subscription subscription) {
                subscription.request(3);
            }
        };
        List<Integer> seen = new ArrayList<>();
        Flux.range(0, 100)
                .doOnRequest(requested::add)
                .transform(RateLimiterOperator.of(one, "alice"))
                .doOnNext(seen::add)
                .subscribe(subscriber);
        assertThat(seen).containsExactly(0, 1, 2);
        subscriber.request(2);
        assertThat(seen).hasSize(5);
        assertThat(requested).containsExactly(3L, 2L);
        assertThat(free(one)).isZero();
        subscriber.cancel();
        assertThat(free(one)).isEqualTo(1);
    }

    @Test
    void publisherSeesTheContextOfItsSubscriber() {
        String seen = Mono.deferContextual(context -> Mono.just(context.<String>get("user")))
                .transform(RateLimiterOperator.of(one, "alice"))
                .contextWrite(context -> context.put("user", "bob"))
                .block(SOON);
        assertThat(seen).isEqualTo("bob");
    }

    @Test
    void publisherDoesNotRunOnTheThreadOfTheStore() throws Exception {
        CompletableFuture<RateLimiter.Entry> decision = new CompletableFuture<>();
        List<String> closed = new CopyOnWriteArrayList<>();
        RateLimiter remote = mock(RateLimiter.class);
        when(remote.enterAsync(anyString(), anyLong())).thenReturn(decision);
        CompletableFuture<String> value = Mono.fromSupplier(
                        () -> Thread.currentThread().getName() + Schedulers.isInNonBlockingThread())
                .transform(RateLimiterOperator.of(remote, "alice"))
                .toFuture();
        Thread store = new Thread(() -> decision.complete(() -> closed.add("closed")), "store");
        store.start();
        store.join();
        assertThat(value)
                .succeedsWithin(SOON)
                .satisfies(thread ->
                        assertThat(thread).startsWith("boundedElastic").endsWith("false"));
        assertThat(closed).isNotEmpty();
    }

    /** The future is complete, and its value on the way to the subscriber, when that cancels. */
    @Test
    void callThatIsAdmittedWhileItIsCancelledReleases() {
        CompletableFuture<RateLimiter.Entry> decision = new CompletableFuture<>();
        RateLimiter remote = mock(RateLimiter.class);
        when(remote.enterAsync(anyString(), anyLong())).thenReturn(new CompletableFuture<RateLimiter.Entry>() {
            @Override
            public boolean cancel(boolean interrupt) {
                // Too late.
                return complete(decision.join());
            }
        });
        AtomicInteger closed = new AtomicInteger();
        decision.complete(closed::incrementAndGet);
        Mono.just("a")
                .transform(RateLimiterOperator.of(remote, "alice"))
                .subscribe()
                .dispose();
        assertThat(closed).hasPositiveValue();
    }
}
