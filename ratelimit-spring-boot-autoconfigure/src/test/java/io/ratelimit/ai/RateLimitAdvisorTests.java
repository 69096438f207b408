package io.ratelimit.ai;

import static io.ratelimit.ai.FakeChatModel.response;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.awaitility.Awaitility.await;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;

import io.ratelimit.Algorithm;
import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitExceededException;
import io.ratelimit.RateLimiterRegistry;
import io.ratelimit.RateLimiterRegistry.PermitRequest;
import io.ratelimit.standalone.RateLimiters;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.reactivestreams.Subscription;
import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.chat.client.ChatClientRequest;
import org.springframework.ai.chat.client.ChatClientResponse;
import org.springframework.ai.chat.client.advisor.api.Advisor;
import org.springframework.ai.chat.client.advisor.api.StreamAdvisorChain;
import org.springframework.ai.chat.model.ChatResponse;
import org.springframework.ai.chat.prompt.Prompt;
import org.springframework.core.Ordered;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Sinks;
import reactor.test.StepVerifier;

/** A client of a model that answers what the test says. The prompt has 8 characters: two tokens. */
@Timeout(180)
class RateLimitAdvisorTests {

    private static final Duration SOON = Duration.ofSeconds(60);

    private final FakeChatModel model = new FakeChatModel();

    private final RateLimiterRegistry registry = RateLimiters.inMemory(
            RateLimit.named("tokens").rate("100/d").build(),
            RateLimit.named("daily").rate("1000/d").build(),
            RateLimit.named("requests").rate("3/d").build(),
            RateLimit.named("streams")
                    .algorithm(Algorithm.CONCURRENCY)
                    .capacity(1)
                    .build());

    private final RateLimitAdvisor advisor = RateLimitAdvisor.of(
            registry, request -> List.of(new PermitRequest("tokens", user(request), 40).asEstimate()));

    /** How the model is called. */
    private enum Way {
        CALL {
            @Override
            void ask(ChatClient client, String user) {
                spec(client, user).call().content();
            }
        },
        STREAM {
            @Override
            void ask(ChatClient client, String user) {
                spec(client, user).stream().content().collectList().block(SOON);
            }
        };

        abstract void ask(ChatClient client, String user);

        void ask(ChatClient client) {
            ask(client, "alice");
        }
    }

    @ParameterizedTest
    @EnumSource
    void usageReplacesTheEstimate(Way way) {
        way.ask(client(advisor));
        assertThat(left("tokens")).isEqualTo(70);
        model.answer = () -> response("42", 95);
        model.stream = Flux.just(response("42", 5), response("", 95));
        way.ask(client(advisor));
        assertThat(left("tokens")).isZero();
        assertThatExceptionOfType(RateLimitExceededException.class)
                .isThrownBy(() -> way.ask(client(advisor)))
                .satisfies(rejection -> {
                    assertThat(rejection.getLimitName()).isEqualTo("tokens");
                    // Of 25 in debt and 40 to come, at 100 a day.
                    assertThat(rejection.getDecision().retryAfter())
                            .isBetween(Duration.ofMinutes(930), Duration.ofMinutes(937));
                });
        assertThat(model.calls).hasValue(2);
    }

    @ParameterizedTest
    @EnumSource
    void estimateStaysWithoutUsage(Way way) {
        model.answer = () -> response("42", 0);
        model.stream = Flux.just(response("4", 0), response("2", 0));
        way.ask(client(advisor));
        assertThat(left("tokens")).isEqualTo(60);
    }

    @Test
    void streamIsChargedTheEstimateWhileItRuns() {
        Sinks.Many<ChatResponse> chunks = Sinks.many().unicast().onBackpressureBuffer();
        model.stream = chunks.asFlux();
        StepVerifier.create(stream())
                .then(() -> chunks.tryEmitNext(response("4", 7)))
                .expectNext("4")
                .then(() -> assertThat(left("tokens")).isEqualTo(60))
                .then(() -> chunks.tryEmitNext(response("2", 30)))
                .expectNext("2")
                .then(chunks::tryEmitComplete)
                .expectComplete()
                .verify(SOON);
        assertThat(left("tokens")).isEqualTo(70);
    }

    @ParameterizedTest
    @CsvSource({
        // Two of the prompt and six of the answer.
        "0, 92",
        "7, 92",
        // More than that.
        "17, 83"
    })
    void cancelledStreamCostsWhatWasStreamed(int told, long left) {
        model.stream = Flux.just(response("123456789012", told), response("345678901", 0))
                .concatWith(Flux.never());
        StepVerifier.create(stream())
                .expectNext("123456789012", "345678901")
                .thenCancel()
                .verify(SOON);
        await().untilAsserted(() -> assertThat(left("tokens")).isEqualTo(left));
    }

    @Test
    void streamThatIsCancelledBeforeItsFirstChunkKeepsTheEstimate() {
        CountDownLatch cancelled = new CountDownLatch(1);
        model.stream = Flux.<ChatResponse>never().doOnCancel(cancelled::countDown);
        StepVerifier.create(stream())
                .thenAwait()
                .then(() -> await().untilAsserted(() -> assertThat(model.calls).hasValue(1)))
                .thenCancel()
                .verify(SOON);
        await().untilAsserted(() -> assertThat(cancelled.getCount()).isZero());
        assertThat(left("tokens")).isEqualTo(60);
    }

    @Test
    void cancellationAfterTheEndChangesNothing() {
        StreamAdvisorChain chain = mock(StreamAdvisorChain.class);
        ChatClientRequest request = new ChatClientRequest(new Prompt("question"), Map.of("user", "alice"));
        when(chain.nextStream(request))
                .thenReturn(Flux.just(new ChatClientResponse(response("123456789012", 0), Map.of())));
        AtomicReference<Subscription> subscription = new AtomicReference<>();
        AtomicBoolean complete = new AtomicBoolean();
        advisor.adviseStream(request, chain).subscribe(new CoreSubscriber<>() {
            @Override
            public void onSubscribe(Subscription started) {
                subscription.set(started);
                started.request(1);
            }

            @Override
            public void onNext(ChatClientResponse chunk) {}

            @Override
            public void onError(Throwable failure) {}

            @Override
            public void onComplete() {
                complete.set(true);
            }
        });
        assertThat(complete).isTrue();
        subscription.get().cancel();
        assertThat(left("tokens")).isEqualTo(60);
    }

    @ParameterizedTest
    @EnumSource
    void failureBeforeTheFirstChunkKeepsTheEstimate(Way way) {
        fail(new IllegalStateException("down"));
        assertThatIllegalStateException()
                .isThrownBy(() -> way.ask(client(advisor)))
                .withMessage("down");
        assertThat(left("tokens")).isEqualTo(60);
    }

    @Test
    void failureAfterTheFirstChunkCostsWhatWasStreamed() {
        model.stream = Flux.just(response("12345678", 0)).concatWith(Flux.error(new IllegalStateException("down")));
        StepVerifier.create(stream())
                .expectNext("12345678")
                .expectErrorMessage("down")
                .verify(SOON);
        assertThat(left("tokens")).isEqualTo(96);
    }

    @ParameterizedTest
    @EnumSource
    void refundOnWins(Way way) {
        RateLimitAdvisor refunding = advisor.withRefundOn(failure -> failure instanceof IllegalStateException);
        fail(new IllegalStateException("down"));
        assertThatIllegalStateException().isThrownBy(() -> way.ask(client(refunding)));
        assertThat(left("tokens")).isEqualTo(100);
        fail(new UnsupportedOperationException());
        assertThatExceptionOfType(UnsupportedOperationException.class).isThrownBy(() -> way.ask(client(refunding)));
        assertThat(left("tokens")).isEqualTo(60);
    }

    @ParameterizedTest
    @EnumSource
    void severalLimitsAreChargedTogetherOrNoneIs(Way way) {
        ChatClient client = client(all());
        for (int i = 1; i <= 3; i++) {
            way.ask(client);
            assertThat(left("tokens")).isEqualTo(100 - 30 * i);
            assertThat(everybody("daily")).isEqualTo(1000 - 30 * i);
            assertThat(left("requests")).isEqualTo(3 - i);
            assertThat(left("streams")).isEqualTo(1);
        }
        registry.get("tokens").reset("alice");
        assertThatExceptionOfType(RateLimitExceededException.class)
                .isThrownBy(() -> way.ask(client))
                .satisfies(rejection -> assertThat(rejection.getLimitNames()).containsExactly("requests"));
        assertThat(left("tokens")).isEqualTo(100);
        assertThat(everybody("daily")).isEqualTo(910);
        assertThat(left("streams")).isEqualTo(1);
    }

    @Test
    void runningStreamHoldsItsPermit() {
        model.stream = Flux.just(response("4", 0)).concatWith(Flux.never());
        ChatClient client = client(all());
        StepVerifier.create(spec(client, "alice").stream().content())
                .expectNext("4")
                .then(() -> assertThatExceptionOfType(RateLimitExceededException.class)
                        .isThrownBy(() -> Way.STREAM.ask(client))
                        .satisfies(rejection ->
                                assertThat(rejection.getLimitNames()).containsExactly("streams")))
                .thenCancel()
                .verify(SOON);
        await().untilAsserted(() -> assertThat(left("streams")).isEqualTo(1));
        fail(new IllegalStateException("down"));
        for (Way way : Way.values()) {
            assertThatIllegalStateException().isThrownBy(() -> way.ask(client, "bob"));
            assertThat(registry.get("streams").peek("bob").remaining()).isEqualTo(1);
        }
    }

    @ParameterizedTest
    @EnumSource
    void userTenantAndModelHaveTheirOwnBuckets(Way way) {
        RateLimitAdvisor byThree = RateLimitAdvisor.of(
                registry,
                request -> List.of(
                        new PermitRequest("tokens", user(request), 40).asEstimate(),
                        new PermitRequest("tokens", "tenant of " + user(request), 40).asEstimate(),
                        new PermitRequest("daily", request.prompt().getOptions().getModel(), 40).asEstimate()));
        ChatClient client = client(byThree);
        way.ask(client, "alice");
        way.ask(client, "bob");
        assertThat(List.of(left("tokens"), registry.get("tokens").peek("bob").remaining()))
                .containsExactly(70L, 70L);
        assertThat(registry.get("tokens").peek("tenant of alice").remaining()).isEqualTo(70);
        assertThat(registry.get("daily").peek("large").remaining()).isEqualTo(940);
        assertThat(registry.get("daily").peek("small").remaining()).isEqualTo(1000);
    }

    @ParameterizedTest
    @EnumSource
    void callWithoutRequestsIsNotLimited(Way way) {
        way.ask(client(RateLimitAdvisor.of(registry, request -> List.of())));
        assertThat(model.calls).hasValue(1);
    }

    /** Each estimate is 40 of 100, so two of ten callers are admitted, until they have told what they have used. */
    @ParameterizedTest
    @EnumSource
    void manyCallersAtOnceAreAdmittedByTheirEstimates(Way way) throws Exception {
        CountDownLatch rejected = new CountDownLatch(8);
        AtomicInteger admitted = new AtomicInteger();
        model.answer = () -> {
            admitted.incrementAndGet();
            join(rejected);
            return response("42", 10);
        };
        model.stream = Flux.defer(() -> Flux.just(model.answer.get()));
        ExecutorService callers = Executors.newFixedThreadPool(10);
        try {
            List<Future<?>> calls = new ArrayList<>();
            for (int i = 0; i < 10; i++) {
                calls.add(callers.submit(() -> {
                    try {
                        way.ask(client(advisor));
                    } catch (RateLimitExceededException rejection) {
                        rejected.countDown();
                    }
                }));
            }
            for (Future<?> call : calls) {
                call.get();
            }
        } finally {
            callers.shutdown();
        }
        assertThat(admitted).hasValue(2);
        assertThat(left("tokens")).isEqualTo(80);
    }

    @Test
    void everySubscriptionIsACall() {
        Flux<String> first = stream();
        assertThat(left("tokens")).isEqualTo(100);
        first.collectList().block(SOON);
        stream().collectList().block(SOON);
        assertThat(left("tokens")).isEqualTo(40);
    }

    @Test
    void tokensAreCountedAsTheApplicationSays() {
        model.stream = Flux.just(response("12345678", 0)).concatWith(Flux.never());
        StepVerifier.create(spec(client(advisor.withTokenCount(String::length)), "alice").stream()
                        .content())
                .expectNext("12345678")
                .thenCancel()
                .verify(SOON);
        await().untilAsserted(() -> assertThat(left("tokens")).isEqualTo(84));
    }

    @Test
    void functionOfTheApplicationThatFailsFailsNoCall() {
        ChatClient failing = client(advisor.withTokenCount(text -> {
            throw new IllegalStateException("expected by the test");
        }));
        model.stream = Flux.just(response("12345678", 0)).concatWith(Flux.never());
        StepVerifier.create(spec(failing, "alice").stream().content().take(1))
                .expectNext("12345678")
                .expectComplete()
                .verify(SOON);
        model.stream = Flux.just(response("12345678", 0)).concatWith(Flux.error(new IOException("of the model")));
        StepVerifier.create(spec(failing, "alice").stream().content())
                .expectNext("12345678")
                .expectErrorMessage("of the model")
                .verify(SOON);
        await().untilAsserted(() -> assertThat(left("streams")).isOne());
        assertThat(left("tokens")).isEqualTo(20);
    }

    @Test
    void comesBeforeAdvisorsOfSpringUnlessToldOtherwise() {
        assertThat(advisor.getOrder()).isLessThan(Advisor.DEFAULT_CHAT_MEMORY_PRECEDENCE_ORDER);
        assertThat(advisor.withOrder(Ordered.LOWEST_PRECEDENCE - 1).getOrder())
                .isEqualTo(Ordered.LOWEST_PRECEDENCE - 1);
        Way.CALL.ask(client(advisor.withOrder(Ordered.LOWEST_PRECEDENCE - 1)));
        assertThat(left("tokens")).isEqualTo(70);
    }

    /** All but the tokens a day are those of the user. */
    private RateLimitAdvisor all() {
        return RateLimitAdvisor.of(
                registry,
                request -> List.of(
                        new PermitRequest("requests", user(request)),
                        new PermitRequest("streams", user(request)),
                        new PermitRequest("tokens", user(request), 40).asEstimate(),
                        PermitRequest.forAllCallers("daily", 40).asEstimate()));
    }

    private void fail(RuntimeException failure) {
        model.answer = () -> {
            throw failure;
        };
        model.stream = Flux.error(failure);
    }

    private Flux<String> stream() {
        return spec(client(advisor), "alice").stream().content();
    }

    private ChatClient client(RateLimitAdvisor limiting) {
        return ChatClient.builder(model).defaultAdvisors(limiting).build();
    }

    private static ChatClient.ChatClientRequestSpec spec(ChatClient client, String user) {
        return client.prompt(new Prompt("question")).advisors(spec -> spec.param("user", user));
    }

    private static String user(ChatClientRequest request) {
        return (String) request.context().get("user");
    }

    private long left(String limit) {
        return registry.get(limit).peek("alice").remaining();
    }

    private long everybody(String limit) {
        return registry.get(limit).allCallers().peek().remaining();
    }

    private static void join(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException ex) {
            Thread.currentThread().interrupt();
        }
    }
}
