package io.ratelimit.web.reactive;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.Charge;
import io.ratelimit.OnStoreFailure;
import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitDecision;
import io.ratelimit.RateLimitSettings;
import io.ratelimit.Waiter;
import io.ratelimit.expression.RequestLimits;
import io.ratelimit.limiter.LimitCatalog;
import io.ratelimit.limiter.RateLimitGate;
import io.ratelimit.store.RateLimitStore;
import io.ratelimit.store.StoreOutcome;
import io.ratelimit.store.StoreRequest;
import io.ratelimit.web.HeaderFormat;
import io.ratelimit.web.RequestRule;
import io.ratelimit.web.RequestRules;
import io.ratelimit.web.TestWebSettings;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.support.DefaultListableBeanFactory;
import org.springframework.context.support.StaticApplicationContext;
import org.springframework.mock.http.server.reactive.MockServerHttpRequest;
import org.springframework.mock.web.server.MockServerWebExchange;
import org.springframework.web.util.pattern.PathPatternParser;
import reactor.core.publisher.Mono;

/** Which thread goes on with a request once it is decided. */
class RequestLimitWebFilterTests {

    private final LimitCatalog catalog =
            new LimitCatalog(new RateLimitSettings(false, OnStoreFailure.LOCAL, Map.of()), null, () -> false);

    private final RequestRules rules = new RequestRules(
            List.of(new RequestRule("ratelimit.http[0]", "/any", Set.of(), "any")),
            new RequestLimits(catalog, new DefaultListableBeanFactory()),
            () -> PathPatternParser.defaultInstance,
            List::of,
            false);

    private final PendingStore store = new PendingStore(new CompletableFuture<>());

    private final CompletableFuture<String> behind = new CompletableFuture<>();

    @BeforeEach
    void start() {
        catalog.declare(RateLimit.named("any").rate("1/s").build(), "the test");
        assertThat(rules.start().get("any")).containsOnlyKeys("/any");
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

    private CompletableFuture<Void> request() {
        RequestLimitWebFilter filter = new RequestLimitWebFilter(
                rules,
                new RateLimitGate(store, (charge, decision, outcome) -> {}, Waiter.parking()),
                new ExchangeCallerRequests(TestWebSettings.of(HeaderFormat.IETF)),
                new ExchangeRejectionHandler(List::of, List::of, new ExchangeCors(List::of, List::of)),
                new StaticApplicationContext(),
                0);
        return filter.filter(
                        MockServerWebExchange.from(MockServerHttpRequest.get("/any")),
                        exchange -> Mono.fromRunnable(
                                () -> behind.complete(Thread.currentThread().getName())))
                .toFuture();
    }

    /** Decides when the test says so. */
    record PendingStore(CompletableFuture<List<RateLimitDecision>> decisions) implements RateLimitStore {

        void decideAllowed() {
            decisions.complete(
                    List.of(new RateLimitDecision(true, 1, 0, Duration.ZERO, Duration.ZERO, Duration.ofSeconds(1))));
        }

        @Override
        public StoreOutcome decide(StoreRequest request) {
            throw new AssertionError("would block the caller");
        }

        @Override
        public CompletionStage<StoreOutcome> decideAsync(StoreRequest request) {
            return decisions.thenApply(decided -> StoreOutcome.of(request, decided));
        }

        @Override
        public CompletionStage<RateLimitDecision> peekAsync(Charge charge) {
            throw new AssertionError();
        }

        @Override
        public CompletionStage<Void> resetAsync(RateLimit limit, @Nullable String key) {
            throw new AssertionError();
        }
    }
}
