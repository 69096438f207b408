package io.ratelimit.aop;

import static io.ratelimit.aop.SettledCalls.used;
import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.RateLimiterRegistry;
import io.ratelimit.aop.TokenModel.Answer;
import io.ratelimit.autoconfigure.LimitedContexts;
import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collector;
import org.junit.jupiter.api.Test;
import org.springframework.http.HttpStatus;
import org.springframework.http.ResponseEntity;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/** Futures and publishers are settled by what they turn out to cost, in a bucket of 100 at a time that stands still. */
class PermitsAfterOfAsyncCallsTests {

    private final SettledCalls calls = new SettledCalls();

    @Test
    void futureIsSettledWhenItCompletes() {
        calls.with((model, limiters) -> {
            CompletableFuture<Answer> answer = new CompletableFuture<>();
            CompletableFuture<Answer> result = model.future(answer);
            assertThat(used(limiters, "future")).isEqualTo(10);
            answer.complete(new Answer(40));
            assertThat(result).isCompleted();
            assertThat(used(limiters, "future")).isEqualTo(40);
        });
    }

    @Test
    void cancelledFutureKeepsTheEstimate() {
        calls.with((model, limiters) -> {
            CompletableFuture<Answer> answer = new CompletableFuture<>();
            model.future(answer).cancel(false);
            answer.complete(new Answer(40));
            assertThat(used(limiters, "future")).isEqualTo(10);
        });
    }

    @Test
    void publishersAreSettledByTheirLastValue() {
        calls.with((model, limiters) -> {
            model.mono(7).block();
            assertThat(used(limiters, "mono")).isEqualTo(7);
            model.flux(Flux.just(1, 2, 33)).blockLast();
            assertThat(used(limiters, "flux")).isEqualTo(33);
        });
    }

    @Test
    void cancelledPublisherKeepsTheEstimate() {
        calls.with((model, limiters) -> {
            model.flux(Flux.just(1, 2).concatWith(Flux.never())).take(2).blockLast();
            assertThat(used(limiters, "flux")).isEqualTo(10);
        });
    }

    /** Such as by {@code Flux.next()}, which needs no more than the value. */
    @Test
    void monoThatIsCancelledAfterItsValueIsSettledByIt() {
        calls.with((model, limiters) -> {
            assertThat(model.mono(40).flux().next().block()).isEqualTo(new Answer(40));
            assertThat(used(limiters, "mono")).isEqualTo(40);
            assertThat(Flux.concat(model.mono(3), Flux.never()).blockFirst()).isEqualTo(new Answer(3));
            assertThat(used(limiters, "mono")).isEqualTo(43);
        });
    }

    @Test
    void collectorKnowsWhatWasUsedUntilTheCancellation() {
        calls.with((model, limiters) -> {
            model.collected(Flux.just(5, 6, 7)).blockLast();
            assertThat(used(limiters, "collected")).isEqualTo(18);
            Sinks.Many<Integer> source = Sinks.many().unicast().onBackpressureBuffer();
            var subscription = model.collected(source.asFlux()).subscribe();
            source.tryEmitNext(20);
            source.tryEmitNext(30);
            subscription.dispose();
            assertThat(used(limiters, "collected")).isEqualTo(68);
            model.collected(Flux.just(2).concatWith(Flux.error(new IOException())))
                    .onErrorComplete()
                    .blockLast();
            assertThat(used(limiters, "collected")).isEqualTo(70);
        });
    }

    /** Otherwise a client that disconnects early would never pay. */
    @Test
    void cancellationBeforeTheFirstResultKeepsTheEstimate() {
        calls.with((model, limiters) -> {
            model.collected(Flux.never()).subscribe().dispose();
            assertThat(used(limiters, "collected")).isEqualTo(10);
            model.collected(Flux.error(new IOException())).onErrorComplete().blockLast();
            assertThat(used(limiters, "collected")).isEqualTo(20);
            model.collected(Flux.empty()).blockLast();
            assertThat(used(limiters, "collected")).isEqualTo(20);
        });
    }

    @Test
    void emptyMonoHasNoResult() {
        calls.with((model, limiters) -> {
            assertThat(model.maybe(Mono.empty()).block()).isNull();
            assertThat(used(limiters, "maybe")).isEqualTo(1);
        });
    }

    /** Each subscription is a call, and settled for itself. */
    @Test
    void retriesAreCalls() {
        calls.with((model, limiters) -> {
            AtomicInteger attempts = new AtomicInteger();
            model.flux(Flux.defer(() -> attempts.incrementAndGet() < 3 ? Flux.error(new IOException()) : Flux.just(4)))
                    .retry()
                    .blockLast();
            assertThat(used(limiters, "flux")).isEqualTo(24);
        });
    }

    /** A subscriber may cancel while a collector fails on another thread. */
    @Test
    void collectorThatFailsDuringACancellationFailsNoCall() {
        LimitedContexts.inMemory()
                .withBean(
                        "sum",
                        Collector.class,
                        () -> Collector.of(
                                Object::new,
                                (container, result) -> {
                                    throw new IllegalStateException("expected by the test");
                                },
                                (one, other) -> one))
                .withBean(TokenModel.class)
                .run(context -> {
                    TokenModel model = context.getBean(TokenModel.class);
                    assertThat(model.collected(Flux.just(1, 2, 3)).take(1).blockLast())
                            .isEqualTo(new Answer(1));
                    assertThat(used(context.getBean(RateLimiterRegistry.class), "collected"))
                            .isEqualTo(10);
                });
    }

    @Test
    void entityWithAStreamIsSettledWithTheStream() {
        calls.with((model, limiters) -> {
            Sinks.Many<Integer> source = Sinks.many().unicast().onBackpressureBuffer();
            ResponseEntity<Flux<Answer>> entity =
                    model.entity(source.asFlux().map(Answer::new)).block();
            assertThat(entity.getStatusCode()).isEqualTo(HttpStatus.ACCEPTED);
            assertThat(entity.getHeaders().getFirst("X-Kept")).isEqualTo("yes");
            var subscription = entity.getBody().subscribe();
            source.tryEmitNext(3);
            source.tryEmitNext(4);
            assertThat(used(limiters, "entity")).isEqualTo(10);
            source.tryEmitComplete();
            assertThat(subscription.isDisposed()).isTrue();
            assertThat(used(limiters, "entity")).isEqualTo(4);
            model.entity(Flux.error(new IOException()))
                    .flatMapMany(ResponseEntity::getBody)
                    .onErrorComplete()
                    .blockLast();
            assertThat(used(limiters, "entity")).as("refundOn").isEqualTo(4);
            model.entityWithMono(Mono.just(new Answer(2)))
                    .flatMap(ResponseEntity::getBody)
                    .block();
            assertThat(used(limiters, "entity-with-mono")).isEqualTo(2);
        });
    }
}
