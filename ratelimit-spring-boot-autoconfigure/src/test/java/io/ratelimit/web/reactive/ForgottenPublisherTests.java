package io.ratelimit.web.reactive;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.Algorithm;
import io.ratelimit.RateLimiter;
import io.ratelimit.RateLimiterRegistry;
import io.ratelimit.annotation.RateLimited;
import io.ratelimit.autoconfigure.RateLimitAutoConfiguration;
import io.ratelimit.autoconfigure.web.RateLimitReactiveAutoConfiguration;
import io.ratelimit.reactor.RateLimiterOperator;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.stream.Collector;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.reactivestreams.Publisher;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ReactiveWebApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.core.io.buffer.DataBuffer;
import org.springframework.core.io.buffer.DefaultDataBufferFactory;
import org.springframework.http.server.reactive.ServerHttpResponseDecorator;
import org.springframework.mock.http.server.reactive.MockServerHttpRequest;
import org.springframework.mock.web.server.MockServerWebExchange;
import org.springframework.web.server.ServerWebExchange;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * A server ends the response, and does not cancel the stream that it has subscribed to: Spring's adapter for Netty does so if the
 * client leaves while the first element is written.
 */
class ForgottenPublisherTests {

    private final ReactiveWebApplicationContextRunner runner = new ReactiveWebApplicationContextRunner()
            .withConfiguration(
                    AutoConfigurations.of(RateLimitAutoConfiguration.class, RateLimitReactiveAutoConfiguration.class))
            .withBean(Streams.class)
            .withBean("letters", Collector.class, () -> Collectors.summingInt(String::length))
            .withPropertyValues("ratelimit.store=in-memory");

    private final Disposable.Composite forgotten = Disposables.composite();

    @AfterEach
    void cancel() {
        forgotten.dispose();
    }

    @Test
    void streamIsCancelledWhenItsExchangeIsOver() {
        runner.run(context -> {
            Streams streams = context.getBean(Streams.class);
            respond(context, exchange -> exchange.getResponse().writeWith(bytes(streams.words())));
            respond(
                    context,
                    exchange -> exchange.getResponse()
                            .writeAndFlushWith(bytes(streams.words()).map(Mono::just)));
            assertThat(used(context)).containsExactly(0L, 12L);
        });
    }

    @Test
    void streamThatIsLimitedInCodeIsCancelledWhenItsExchangeIsOver() {
        runner.run(context -> {
            RateLimiter limiter = context.getBean(RateLimiterRegistry.class).get("streams");
            respond(
                    context,
                    exchange -> exchange.getResponse()
                            .writeWith(bytes(RateLimiterOperator.<String>of(limiter.allCallers())
                                    .apply(Flux.never()))));
            assertThat(limiter.allCallers().peek().remaining()).isEqualTo(5);
        });
    }

    /** What is no part of the response goes on, also if it knows the request: background work, or a stream that others share. */
    @Test
    void otherStreamsGoOnWhenTheExchangeIsOver() {
        runner.run(context -> {
            Streams streams = context.getBean(Streams.class);
            Flux<String> shared = streams.words().share();
            forgotten.add(shared.subscribe());
            respond(context, exchange -> exchange.getResponse().writeWith(bytes(shared)));
            respond(
                    context,
                    exchange -> Mono.deferContextual(request -> {
                        forgotten.add(streams.words().contextWrite(request).subscribe());
                        return Mono.empty();
                    }));
            assertThat(used(context)).containsExactly(2L, 6L);
        });
    }

    private void respond(ApplicationContext context, Handler handler) {
        ServerWebExchange exchange = MockServerWebExchange.from(MockServerHttpRequest.get("/"));
        ServerWebExchange forgetting = exchange.mutate()
                .response(new ServerHttpResponseDecorator(exchange.getResponse()) {
                    @Override
                    public Mono<Void> writeWith(Publisher<? extends DataBuffer> body) {
                        return forget(body);
                    }

                    @Override
                    public Mono<Void> writeAndFlushWith(Publisher<? extends Publisher<? extends DataBuffer>> body) {
                        return forget(body);
                    }
                })
                .build();
        context.getBean("rateLimitFirstFilter", ExchangeContextFilter.class)
                .filter(forgetting, handler::handle)
                .onErrorComplete(IOException.class)
                .block();
    }

    private Mono<Void> forget(Publisher<?> body) {
        return Mono.deferContextual(request -> {
            forgotten.add(Flux.from(body).contextWrite(request).subscribe());
            return Mono.error(new IOException("The client has left"));
        });
    }

    private static Flux<DataBuffer> bytes(Publisher<String> texts) {
        return Flux.from(texts)
                .map(text -> DefaultDataBufferFactory.sharedInstance.wrap(text.getBytes(StandardCharsets.UTF_8)));
    }

    /** Returns the permits that calls hold, and those that they have cost. */
    private static List<Long> used(ApplicationContext context) {
        RateLimiterRegistry limiters = context.getBean(RateLimiterRegistry.class);
        return List.of(
                5 - limiters.get("streams").allCallers().peek().remaining(),
                1_000 - limiters.get("words").allCallers().peek().remaining());
    }

    @FunctionalInterface
    private interface Handler {

        Mono<Void> handle(ServerWebExchange exchange);
    }

    static class Streams {

        @RateLimited(name = "streams", algorithm = Algorithm.CONCURRENCY, capacity = 5)
        @RateLimited(
                name = "words",
                algorithm = Algorithm.FIXED_WINDOW,
                capacity = 1_000,
                rate = "1000/d",
                permits = "3",
                permitsAfter = "@letters")
        public Flux<String> words() {
            return Flux.concat(Flux.just("one", "two"), Flux.never());
        }
    }
}
