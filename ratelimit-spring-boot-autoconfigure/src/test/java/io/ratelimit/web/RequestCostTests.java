package io.ratelimit.web;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;
import org.springframework.core.io.buffer.DataBuffer;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.http.ResponseEntity;
import org.springframework.http.server.reactive.ServerHttpResponse;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.ResponseStatusException;
import org.springframework.web.server.WebFilter;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/** What a request to a limited URL costs when the response determines it, on a real server of either stack. */
class RequestCostTests {

    private static final long CAPACITY = 3;

    private static final String[] PROPERTIES = {
        "ratelimit.limits.guesses.rate=3/d",
        "ratelimit.limits.guesses.key-expression=#caller",
        "ratelimit.limits.guesses.permits-after=#status < 400 ? 0 : #status == 418 ? null : #status == 402 ? 2 : 1",
        "ratelimit.http[0].path=/{caller}/**",
        "ratelimit.http[0].limit=guesses"
    };

    @RegisterExtension
    static final RunningApplication servlet =
            new RunningApplication(WebApplicationType.SERVLET, Application.class, PROPERTIES);

    @RegisterExtension
    static final RunningApplication reactive =
            new RunningApplication(WebApplicationType.REACTIVE, Application.class, PROPERTIES);

    private enum Stack {
        SERVLET,
        REACTIVE;

        private RunningApplication application() {
            return this == SERVLET ? servlet : reactive;
        }

        private long remaining(String caller) {
            return application().limiter("guesses").peek(caller).remaining();
        }
    }

    static Stream<Arguments> answers() {
        return Stream.of(Stack.values())
                .flatMap(stack -> Stream.of(
                        Arguments.of(stack, "answer/200", 200, 0),
                        Arguments.of(stack, "answer/302", 302, 0),
                        Arguments.of(stack, "answer/401", 401, 1),
                        Arguments.of(stack, "late/200", 200, 0),
                        Arguments.of(stack, "late/401", 401, 1),
                        Arguments.of(stack, "known", 403, 1),
                        Arguments.of(stack, "mapped", 402, 2),
                        Arguments.of(stack, "failing", 500, 1),
                        Arguments.of(stack, "late-failing", 500, 1),
                        Arguments.of(stack, "nothing-here", 404, 1),
                        Arguments.of(stack, "answer/418", 418, 1)));
    }

    /** The client has its status already. */
    static Stream<Arguments> failuresAfterTheResponse() {
        return Stream.of(
                Arguments.of(Stack.SERVLET, "written-by-servlet", 200, 1),
                Arguments.of(Stack.REACTIVE, "written-by-reactive", 200, 1));
    }

    @ParameterizedTest
    @MethodSource({"answers", "failuresAfterTheResponse"})
    void statusOfTheResponseDeterminesTheCost(Stack stack, String path, int status, int cost) {
        String caller = path.replace('/', '-');
        for (int i = 1; i <= 2; i++) {
            assertThat(stack.application().get(caller + "/" + path).status()).isEqualTo(status);
            long left = Math.max(0, CAPACITY - (long) i * cost);
            await(path).until(() -> stack.remaining(caller) == left);
        }
    }

    /** Each is charged before it is known whether it is right. */
    @Test
    void statusThatAnOuterFilterAnswersInsteadDeterminesTheCost() {
        assertThat(reactive.get("tim/silent").status()).isEqualTo(200);
        await().untilAsserted(() ->
                assertThat(reactive.limiter("guesses").peek("tim").remaining()).isEqualTo(CAPACITY));
    }

    @Test
    void statusThatAnOuterFilterSetsAfterTheHandlerDeterminesTheCost() {
        assertThat(reactive.get("tom/replaced").status()).isEqualTo(401);
        await().untilAsserted(() ->
                assertThat(reactive.limiter("guesses").peek("tom").remaining()).isEqualTo(CAPACITY - 1));
    }

    /** The client has its status already. */
    @Test
    void responseThatAnOuterFilterEndsCostsWhatItsStatusSays() {
        assertThat(reactive.get("tim/endless").status()).isEqualTo(200);
        await().untilAsserted(() ->
                assertThat(reactive.limiter("guesses").peek("tim").remaining()).isEqualTo(CAPACITY));
    }

    @ParameterizedTest
    @EnumSource
    void guessesAtTheSameTimeDoNotPassBecauseNoneHasFailedYet(Stack stack) {
        Handlers handlers = stack.application().bean(Handlers.class);
        List<CompletableFuture<Integer>> requests = IntStream.range(0, 8)
                .mapToObj(i -> CompletableFuture.supplyAsync(
                        () -> stack.application().get("crowd/held").status(), task -> new Thread(task).start()))
                .toList();
        await("rejections")
                .until(() -> requests.stream().filter(CompletableFuture::isDone).count() == 8 - CAPACITY);
        assertThat(stack.remaining("crowd")).isZero();
        handlers.answers.countDown();
        assertThat(requests.stream().map(CompletableFuture::join).sorted())
                .containsExactly(200, 200, 200, 429, 429, 429, 429, 429);
        await("refunds").until(() -> stack.remaining("crowd") == CAPACITY);
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    @Import(Handlers.class)
    static class Application {

        /** Cancels the request, and answers itself. */
        @Bean
        @Order(Ordered.HIGHEST_PRECEDENCE)
        WebFilter impatient(Handlers handlers) {
            return (exchange, chain) -> {
                Mono<Void> answer = chain.filter(exchange);
                return switch (exchange.getRequest().getPath().subPath(3).value()) {
                    case "silent" ->
                        Mono.firstWithSignal(answer, Mono.empty())
                                .then(Mono.defer(() -> exchange.getResponse().setComplete()));
                    case "replaced" ->
                        answer.then(
                                Mono.fromRunnable(() -> exchange.getResponse().setStatusCode(HttpStatus.UNAUTHORIZED)));
                    case "endless" -> Mono.firstWithSignal(answer, handlers.begun.asMono());
                    default -> answer;
                };
            };
        }
    }

    @RestController
    static class Handlers {

        private final CountDownLatch answers = new CountDownLatch(1);

        private final Sinks.Empty<Void> begun = Sinks.empty();

        @GetMapping("/{caller}/answer/{status}")
        ResponseEntity<String> answer(@PathVariable int status) {
            return ResponseEntity.status(status).body("answered");
        }

        @GetMapping("/{caller}/late/{status}")
        CompletableFuture<ResponseEntity<String>> late(@PathVariable int status) {
            return CompletableFuture.supplyAsync(() -> answer(status));
        }

        @GetMapping("/{caller}/held")
        CompletableFuture<String> held() {
            return CompletableFuture.supplyAsync(
                    () -> {
                        try {
                            answers.await();
                        } catch (InterruptedException ex) {
                            throw new IllegalStateException(ex);
                        }
                        return "held";
                    },
                    task -> new Thread(task).start());
        }

        @GetMapping("/{caller}/replaced")
        Mono<Void> replaced() {
            return Mono.empty();
        }

        @GetMapping("/{caller}/silent")
        Mono<String> silent() {
            return Mono.never();
        }

        @GetMapping(path = "/{caller}/endless", produces = MediaType.TEXT_EVENT_STREAM_VALUE)
        Flux<String> endless() {
            return Flux.concat(Mono.just("begun"), Mono.defer(() -> {
                begun.tryEmitEmpty();
                return Mono.never();
            }));
        }

        @GetMapping("/{caller}/known")
        String known() {
            throw new ResponseStatusException(HttpStatus.FORBIDDEN);
        }

        @GetMapping("/{caller}/mapped")
        String mapped() {
            throw new Unpaid();
        }

        @GetMapping("/{caller}/failing")
        String failing() {
            throw new IllegalStateException("on purpose");
        }

        @GetMapping("/{caller}/written-by-servlet")
        void written(HttpServletResponse response) throws IOException {
            response.setContentLength(4);
            response.getWriter().write("sent");
            response.flushBuffer();
            failing();
        }

        @GetMapping("/{caller}/written-by-reactive")
        Mono<Void> written(ServerHttpResponse response) {
            response.getHeaders().setContentLength(4);
            DataBuffer sent = response.bufferFactory().wrap("sent".getBytes(StandardCharsets.US_ASCII));
            return response.writeWith(Mono.just(sent)).then(Mono.fromRunnable(this::failing));
        }

        @GetMapping("/{caller}/late-failing")
        CompletableFuture<String> lateFailing() {
            return CompletableFuture.supplyAsync(this::failing);
        }
    }

    @ResponseStatus(HttpStatus.PAYMENT_REQUIRED)
    static class Unpaid extends RuntimeException {

        private static final long serialVersionUID = 1L;
    }
}
