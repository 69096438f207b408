package io.ratelimit.web.reactive;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.ratelimit.LimitAttributes;
import io.ratelimit.LimitConfiguration;
import io.ratelimit.OnStoreFailure;
import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitDecision;
import io.ratelimit.RateLimitPlan;
import io.ratelimit.expression.LimitOperations;
import io.ratelimit.internal.limiter.LimitCatalog;
import io.ratelimit.internal.limiter.PlanCacheManager;
import io.ratelimit.internal.limiter.RateLimitGate;
import io.ratelimit.spi.RateLimitPlanResolver;
import io.ratelimit.spi.RateLimitStore;
import io.ratelimit.spi.ReceiptRefund;
import io.ratelimit.spi.StoreAnswer;
import io.ratelimit.spi.StoreOutcome;
import io.ratelimit.spi.StoreRequest;
import io.ratelimit.spi.Waiter;
import io.ratelimit.testing.TestLimits;
import io.ratelimit.testing.TestRandom;
import io.ratelimit.testing.TestSettings;
import io.ratelimit.web.HeaderFormat;
import io.ratelimit.web.RequestRule;
import io.ratelimit.web.RequestRuleMapping;
import io.ratelimit.web.RuleOrder;
import io.ratelimit.web.TestWebSettings;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.beans.factory.support.DefaultListableBeanFactory;
import org.springframework.context.support.StaticApplicationContext;
import org.springframework.mock.http.server.reactive.MockServerHttpRequest;
import org.springframework.mock.web.server.MockServerWebExchange;
import org.springframework.web.util.pattern.PathPatternParser;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.core.scheduler.Schedulers;

/** Which thread goes on with a request once it is decided, and what a request holds that is cancelled meanwhile. */
@Timeout(180)
class RequestLimitWebFilterTests {

    private static final RateLimit HELD = TestLimits.concurrency("held", 1_000_000);

    private final LimitCatalog catalog = new LimitCatalog(
            TestSettings.of(
                    false,
                    OnStoreFailure.LOCAL,
                    Map.of(
                            "planned",
                            LimitConfiguration.of("planned")
                                    .with(LimitAttributes.KEY_EXPRESSION, "'alice'")
                                    .with(LimitAttributes.PLAN_RESOLVER, "plans"))),
            null,
            () -> false);

    private final DefaultListableBeanFactory beans = new DefaultListableBeanFactory();

    private final RequestRuleMapping rules = new RequestRuleMapping(
            List.of(
                    new RequestRule("ratelimit.http[0]", "/any", Set.of(), "any", null),
                    new RequestRule("ratelimit.http[1]", "/held", Set.of(), "held", null),
                    new RequestRule("ratelimit.http[2]", "/planned", Set.of(), "planned", null)),
            new LimitOperations(catalog, beans),
            () -> PathPatternParser.defaultInstance,
            List::of,
            Map.of(),
            false);

    private final CompletableFuture<RateLimitPlan> plan = new CompletableFuture<>();

    private final CompletableFuture<String> behind = new CompletableFuture<>();

    private final AtomicReference<Runnable> onDecision = new AtomicReference<>(() -> {});

    private final PendingStore store = new PendingStore(new CompletableFuture<>(), onDecision, new AtomicLong());

    private final RateLimitGate gate = new RateLimitGate(store, (charge, decision, outcome) -> {}, Waiter.parking());

    @BeforeEach
    void start() {
        catalog.declare(RateLimit.named("any").rate("1/s").build(), "the test");
        catalog.declare(HELD, "the test");
        catalog.declare(RateLimit.named("planned").rate("1/s").build(), "the test");
        beans.registerSingleton("caches", new PlanCacheManager(Duration.ofMinutes(1), Duration.ofMinutes(1)));
        beans.registerSingleton("plans", (RateLimitPlanResolver) (limit, key) -> plan.join());
        assertThat(rules.start()).containsOnlyKeys("any", "held", "planned");
    }

    @Test
    void whatComesBehindDoesNotRunOnTheThreadOfTheStore() throws Exception {
        CompletableFuture<Void> request = request();
        assertThat(behind).isNotDone();
        Thread thread = new Thread(store::decideAllowed, "store");
        thread.start();
        request.get(60, TimeUnit.SECONDS);
        assertThat(behind.join()).startsWith("parallel-");
    }

    @Test
    void whatIsDecidedAtOnceGoesOnWhereItIs() {
        store.decideAllowed();
        assertThat(request()).isDone();
        assertThat(behind.join()).isEqualTo(Thread.currentThread().getName());
    }

    @Test
    void requestThatIsCancelledBetweenSubscriptionAndDecisionHoldsNothing() {
        store.decideAllowed();
        Disposable.Swap request = Disposables.swap();
        onDecision.set(request::dispose);
        Sinks.One<Boolean> earlier = Sinks.one();
        request.update(earlier.asMono()
                .then(filter("/held", Mono.fromRunnable(() -> behind.complete("not cancelled"))))
                .subscribe());
        earlier.tryEmitValue(true);
        assertThat(request.isDisposed()).isTrue();
        assertThat(behind).isNotDone();
        assertThat(gate.heldPermits(HELD)).isZero();
    }

    @Test
    void requestThatIsCancelledBeforeItsDecisionHoldsNothing() {
        Disposable request = filter("/held", Mono.never()).subscribe();
        request.dispose();
        store.decideAllowed();
        assertThat(gate.heldPermits(HELD)).isZero();
    }

    @Test
    void requestHoldsUntilItsHandlerEnds() {
        store.decideAllowed();
        Sinks.One<Void> handler = Sinks.one();
        CompletableFuture<Void> request = filter("/held", handler.asMono()).toFuture();
        assertThat(gate.heldPermits(HELD)).isOne();
        handler.tryEmitEmpty();
        assertThat(request).isDone();
        assertThat(gate.heldPermits(HELD)).isZero();
    }

    @Test
    void failureOfTheHandlerIsNotAnsweredAsARejection() {
        store.decideAllowed();
        assertThat(filter("/held", Mono.error(new IllegalArgumentException("of the handler")))
                        .toFuture())
                .failsWithin(Duration.ofMinutes(1))
                .withThrowableOfType(ExecutionException.class)
                .withMessageContaining("of the handler");
        assertThat(gate.heldPermits(HELD)).isZero();
    }

    /** Reactor throws it, and does not signal it. */
    @Test
    void linkageErrorOfTheHandlerEndsTheRequest() {
        store.decideAllowed();
        Mono<Void> handler = Mono.fromRunnable(() -> {
            throw new NoClassDefFoundError("com/acme/Missing");
        });
        assertThat(filter("/held", handler).toFuture())
                .failsWithin(Duration.ofMinutes(1))
                .withThrowableOfType(ExecutionException.class)
                .withMessageContaining("com/acme/Missing");
        assertThat(gate.heldPermits(HELD)).isZero();
    }

    /** Reactor throws it, and the thread that goes on would swallow it. */
    @Test
    void linkageErrorBehindAPlanThatDoesNotLimitEndsTheRequest() {
        Mono<Void> handler = Mono.fromRunnable(() -> {
            throw new NoClassDefFoundError("com/acme/Missing");
        });
        CompletableFuture<Void> request = filter("/planned", handler).toFuture();
        assertThat(request).isNotDone();
        plan.complete(RateLimitPlan.named("staff").enabled(false));
        assertThat(request)
                .failsWithin(Duration.ofSeconds(20))
                .withThrowableOfType(ExecutionException.class)
                .withMessageContaining("com/acme/Missing");
    }

    @Test
    void checkpointOfTheLogNamesTheFilterAlone() {
        assertThat(filter()).hasToString("RequestLimitWebFilter");
        assertThat(new ExchangeContextFilter(TestWebSettings.of(HeaderFormat.IETF), 0))
                .hasToString("ExchangeContextFilter");
    }

    /** An earlier filter goes on in another thread, and the client is gone at any time: also while an operator subscribes. */
    @Test
    void requestsThatAreCancelledAtAnyTimeHoldNothing() {
        store.decideAllowed();
        Random random = TestRandom.create(getClass());
        for (int i = 0; i < 20_000; i++) {
            Disposable request = Mono.just(true)
                    .publishOn(Schedulers.parallel())
                    .then(filter("/held", Mono.never()))
                    .subscribe();
            for (int spins = random.nextInt(3_000); spins > 0; spins--) {
                Thread.onSpinWait();
            }
            request.dispose();
        }
        await().until(() -> gate.heldPermits(HELD) == 0);
    }

    private CompletableFuture<Void> request() {
        return filter(
                        "/any",
                        Mono.fromRunnable(
                                () -> behind.complete(Thread.currentThread().getName())))
                .toFuture();
    }

    private RequestLimitWebFilter filter() {
        return new RequestLimitWebFilter(
                rules,
                RuleOrder.BEFORE_SECURITY,
                gate,
                new ExchangeRequestCallSource(TestWebSettings.of(HeaderFormat.IETF)),
                new ExchangeRejectionHandler(List::of, List::of, new ExchangeCors(List::of, List::of)),
                new StaticApplicationContext());
    }

    private Mono<Void> filter(String path, Mono<Void> handler) {
        return filter().filter(MockServerWebExchange.from(MockServerHttpRequest.get(path)), exchange -> handler);
    }

    /** Decides when the test says so. */
    record PendingStore(
            CompletableFuture<List<RateLimitDecision>> decisions, AtomicReference<Runnable> onDecision, AtomicLong held)
            implements RateLimitStore {

        void decideAllowed() {
            decisions.complete(
                    List.of(new RateLimitDecision(true, 1, 0, Duration.ZERO, Duration.ZERO, Duration.ofSeconds(1))));
        }

        @Override
        public StoreAnswer decide(StoreRequest request) {
            return StoreAnswer.of(
                    () -> {
                        throw new AssertionError("would block the caller");
                    },
                    () -> decideAsync(request));
        }

        private CompletionStage<StoreOutcome> decideAsync(StoreRequest request) {
            onDecision.get().run();
            return decisions.thenApply(decided -> {
                held.incrementAndGet();
                return StoreOutcome.of(
                        request,
                        decided,
                        new ReceiptRefund<>(Map.of(request.charges().get(0), held), (receipts, permits) -> {
                            held.decrementAndGet();
                            return CompletableFuture.completedFuture(null);
                        }));
            });
        }

        @Override
        public long heldPermits(RateLimit limit) {
            return held.get();
        }
    }
}
