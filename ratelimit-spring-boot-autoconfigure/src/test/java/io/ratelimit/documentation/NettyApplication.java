package io.ratelimit.documentation;

import io.ratelimit.documentation.RequestStage.Streams;
import io.ratelimit.testing.OwnAlgorithms;
import java.util.stream.Collector;
import java.util.stream.Collectors;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.http.MediaType;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RequestHeader;
import org.springframework.web.bind.annotation.RestController;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Sinks;

/** Handlers to which the events of reactive requests happen. */
@Configuration(proxyBeanMethods = false)
@EnableAutoConfiguration
@Import({OwnAlgorithms.Batches.class, Streams.class, NettyApplication.Calls.class, NettyApplication.Handlers.class})
class NettyApplication {

    @Bean
    Collector<Object, ?, Integer> cost() {
        return Collectors.reducing(0, used -> 2, (one, other) -> 2);
    }

    static class Calls {

        public Flux<String> costs(Flux<String> values) {
            return values;
        }

        public Flux<String> fails(Flux<String> values) {
            return values.concatWith(Flux.error(new IllegalStateException("expected by the test")));
        }
    }

    @RestController
    static class Handlers {

        private final Calls calls;

        private final Streams streams;

        Handlers(Calls calls, Streams streams) {
            this.calls = calls;
            this.streams = streams;
        }

        @GetMapping(path = "/events/{event}", produces = MediaType.TEXT_EVENT_STREAM_VALUE)
        public Flux<String> handle(@PathVariable String event, @RequestHeader("X-Feature") String feature) {
            return switch (event) {
                case "time-out" -> call(feature, stream().timeout(Streams.TIMEOUT));
                case "cancel", "disconnect" -> call(feature, stream());
                case "error" ->
                    call(feature, Flux.just(event))
                            .thenMany(Flux.error(new IllegalArgumentException("expected by the test")));
                default -> call(feature, Flux.just(event));
            };
        }

        private Flux<String> call(String feature, Flux<String> result) {
            return switch (feature) {
                case "permitsAfter" -> calls.costs(result);
                case "refundOn" -> calls.fails(result).onErrorReturn(IllegalStateException.class, "failed");
                default -> result;
            };
        }

        private Flux<String> stream() {
            return Flux.defer(() -> {
                Sinks.Many<String> sink = Sinks.many().multicast().directBestEffort();
                Runnable write = () -> sink.tryEmitNext("more");
                return Flux.just("first")
                        .concatWith(sink.asFlux())
                        .doOnSubscribe(unused -> streams.open.add(write))
                        .doFinally(unused -> streams.open.remove(write));
            });
        }
    }
}
