package io.ratelimit.web;

import static org.assertj.core.api.Assertions.assertThat;
import static org.springframework.web.reactive.function.server.RequestPredicates.path;

import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitConflictException;
import io.ratelimit.RateLimitInterruptedException;
import io.ratelimit.RateLimitStoreException;
import io.ratelimit.RateLimiter;
import io.ratelimit.RateLimiterRegistry;
import io.ratelimit.annotation.RateLimited;
import java.security.Principal;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.http.MediaType;
import org.springframework.http.ResponseEntity;
import org.springframework.http.client.ReactorResourceFactory;
import org.springframework.web.ErrorResponse;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.bind.annotation.RestControllerAdvice;
import org.springframework.web.filter.reactive.ServerWebExchangeContextFilter;
import org.springframework.web.reactive.config.WebFluxConfigurer;
import org.springframework.web.reactive.function.server.RouterFunction;
import org.springframework.web.reactive.function.server.RouterFunctions;
import org.springframework.web.reactive.function.server.ServerResponse;
import org.springframework.web.server.WebFilter;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/**
 * On Netty, with a connection for each request: where one request is answered by another thread and the next one at once,
 * Reactor Netty 1.3.7 can stop reading (reactor-netty#4361), with limits or without.
 */
class WebFluxHttpTests extends HttpContract {

    @Override
    HttpApplication start(List<Class<?>> more, String... properties) {
        Class<?>[] sources = Stream.concat(more.stream(), Stream.of(Endpoints.class, Service.class, Beans.class))
                .toArray(Class<?>[]::new);
        String[] all = Stream.concat(Stream.of(properties), Stream.of("server.netty.max-keep-alive-requests=1"))
                .toArray(String[]::new);
        return new HttpApplication(redis, WebApplicationType.REACTIVE, sources, all);
    }

    @Override
    Class<?> interceptor() {
        return Interceptor.class;
    }

    @Test
    void rejectionOfABlockingServiceOnAnotherThreadSaysHowTheCallerStands() {
        assertThat(get("/blocking").status()).isEqualTo(200);
        HttpAnswer rejected = get("/blocking").isRejected("\"blocking\";r=0;t=60", "60", "blocking");
        assertThat(rejected.header("RateLimit-Policy")).isEqualTo("\"blocking\";q=1;w=60");
    }

    /** Spring asks all advice in its order, and nothing can come before the highest precedence. */
    @ParameterizedTest
    @CsvSource({"true,false,true", "true,true,true", "false,true,true", "false,false,false"})
    void startUpWarnsOfAdviceForEveryExceptionThatGetsRejections(
            boolean first, boolean naming, boolean warned, CapturedOutput output) {
        List<Class<?>> advice = new ArrayList<>();
        advice.add(first ? FirstCatchAllAdvice.class : CatchAllAdvice.class);
        if (naming) {
            advice.add(OwnAdviceOfOthers.class);
        }
        int before = output.getAll().length();
        start(advice).close();
        String logged = output.getAll().substring(before);
        if (warned) {
            assertThat(logged)
                    .containsOnlyOnce("handles every exception")
                    .contains(advice.get(0).getName());
        } else {
            assertThat(logged).doesNotContain("every exception");
        }
    }

    /** The starter answers none of these exceptions. */
    @Test
    void adviceForOtherExceptionsLeavesRejectionsToTheStarter() {
        try (HttpApplication own = start(List.of(FailureAdvice.class, CatchAllAdvice.class))) {
            own.get("/quotes");
            own.get("/quotes");
            assertThat(own.get("/quotes").status()).isEqualTo(429);
        }
    }

    @Test
    void filterOfSpringForTheContextChangesNothing() {
        try (HttpApplication own = start(List.of(SpringsFilter.class))) {
            own.get("/by-ip").isAllowed("\"by-ip\";r=1;t=1");
            own.get("/by-ip").isAllowed("\"by-ip\";r=0;t=2");
        }
    }

    @Test
    void rejectionInTheBodyOfAFunctionalEndpointIsAnsweredAlike() {
        get("/functional-body").isAllowed("\"functional\";r=0;t=7");
        get("/functional-body").isRejected("\"functional\";r=0;t=7", "7", "functional");
    }

    @Test
    void rejectionOfAFilterIsAnsweredAlike() {
        get("/quotes", "X-Filtered", "yes").isAllowed("\"filtered\";r=0;t=1, \"quotes\";r=1;t=3");
        get("/quotes", "X-Filtered", "yes").isRejected("\"filtered\";r=0;t=1", "1", "filtered");
    }

    @RestControllerAdvice
    static class FailureAdvice {

        @ExceptionHandler({
            RateLimitStoreException.class,
            RateLimitInterruptedException.class,
            RateLimitConflictException.class
        })
        ResponseEntity<String> failed() {
            return ResponseEntity.internalServerError().build();
        }
    }

    @RestController
    static class Endpoints {

        private final Service service;

        private final RateLimiter byHand;

        Endpoints(Service service, RateLimiterRegistry registry) {
            this.service = service;
            this.byHand = registry.get("by-hand");
        }

        @GetMapping("/quotes")
        @RateLimited(name = "quotes", capacity = 2, rate = "2/5s")
        public Mono<String> quotes() {
            return Mono.just("42");
        }

        @GetMapping("/strict")
        @RateLimited(name = "strict", capacity = 2, rate = "2/5s", blockFor = "1m, 10m")
        public Mono<String> strict() {
            return Mono.just("42");
        }

        @GetMapping("/several")
        @RateLimited(name = "burst", capacity = 2, rate = "1/s")
        @RateLimited(name = "daily", capacity = 5, rate = "5/d")
        public Mono<String> several() {
            return Mono.just("42");
        }

        @GetMapping("/service")
        public Mono<String> service() {
            return service.call();
        }

        @GetMapping("/thrice")
        public Mono<String> thrice() {
            return service.call().then(service.call()).then(service.call());
        }

        @GetMapping("/costly")
        @RateLimited(name = "costly", capacity = 2, rate = "1/s", permits = "5")
        public Mono<String> costly() {
            return Mono.just("42");
        }

        @GetMapping("/dry")
        @RateLimited(name = "dry", capacity = 1, rate = "1/h")
        @RateLimited(name = "off", capacity = 1, rate = "1/h")
        @RateLimited(name = "seen", capacity = 5, rate = "1/s")
        public Mono<String> dry() {
            return Mono.just("42");
        }

        @GetMapping("/by-ip")
        @RateLimited(name = "by-ip", capacity = 2, rate = "1/s", keyExpression = "clientIp")
        public Mono<String> byIp() {
            return Mono.just("42");
        }

        @GetMapping("/by-principal")
        @RateLimited(name = "by-principal", rate = "1/s", keyExpression = "principal")
        public Mono<String> byPrincipal() {
            return Mono.just("42");
        }

        @GetMapping("/blocking")
        public Mono<String> blocking() {
            return Mono.fromCallable(service::blocking).subscribeOn(Schedulers.boundedElastic());
        }

        @GetMapping("/by-header-of-service")
        public Mono<String> byHeaderOfService() {
            return service.byHeader();
        }

        @GetMapping("/by-header")
        @RateLimited(name = "by-header", rate = "1/s", keyExpression = "header('X-Api-Key')")
        public Mono<String> byHeader() {
            return Mono.just("42");
        }

        @GetMapping("/future")
        @RateLimited(name = "future", rate = "1/s")
        public CompletableFuture<String> future() {
            return CompletableFuture.completedFuture("42");
        }

        @GetMapping("/mono")
        @RateLimited(name = "mono", rate = "1/d")
        public Mono<String> mono() {
            return Mono.just("42");
        }

        @GetMapping("/flux")
        @RateLimited(name = "flux", rate = "1/s")
        public Flux<Integer> flux() {
            return Flux.just(1, 2);
        }

        @GetMapping(path = "/stream", produces = MediaType.TEXT_EVENT_STREAM_VALUE)
        public Flux<String> stream() {
            return Flux.concat(Mono.just("one"), service.streamed());
        }

        @GetMapping(path = "/limited-stream", produces = MediaType.TEXT_EVENT_STREAM_VALUE)
        @RateLimited(name = "limited-stream", rate = "1/s")
        public Flux<String> limitedStream() {
            return Flux.just("one");
        }

        /** On a thread that may block: on the event loop it would be refused. */
        @GetMapping("/acquire")
        public Mono<String> acquire() {
            return Mono.fromCallable(() -> {
                        byHand.acquire("alice");
                        return "42";
                    })
                    .subscribeOn(Schedulers.boundedElastic());
        }

        @GetMapping("/broken")
        public Mono<String> broken() {
            return Mono.error(new IllegalStateException());
        }
    }

    static class Service {

        @RateLimited(name = "service", capacity = 10, rate = "1/s")
        public Mono<String> call() {
            return Mono.just("42");
        }

        @RateLimited(name = "by-header-of-service", rate = "1/s", keyExpression = "header('X-Api-Key')")
        public Mono<String> byHeader() {
            return Mono.just("42");
        }

        @RateLimited(name = "blocking", rate = "1/m")
        public String blocking() {
            return "42";
        }

        @RateLimited(name = "streamed", rate = "1/s")
        public Mono<String> streamed() {
            return Mono.just("two");
        }

        @RateLimited(name = "functional", rate = "1/7s")
        public Mono<String> functional() {
            return Mono.just("42");
        }

        @RateLimited(name = "filtered", rate = "1/s", keyExpression = "clientIp")
        public Mono<Void> filtered() {
            return Mono.empty();
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class Beans {

        @Bean
        static RateLimit byHand() {
            return RateLimit.named("by-hand").rate("1/m").build();
        }

        @Bean
        RouterFunction<ServerResponse> functional(Service service) {
            return RouterFunctions.route(
                            path("/functional"),
                            request -> service.functional()
                                    .flatMap(quote -> ServerResponse.ok().bodyValue(quote)))
                    .andRoute(
                            path("/functional-body"),
                            request -> ServerResponse.ok().body(service.functional(), String.class));
        }

        /** Not those of the JVM, which the first application to end would take from the others. */
        @Bean
        ReactorResourceFactory netty() {
            ReactorResourceFactory resources = new ReactorResourceFactory();
            resources.setUseGlobalResources(false);
            return resources;
        }

        @Bean
        WebFilter users() {
            return (exchange, chain) -> {
                String user = exchange.getRequest().getHeaders().getFirst("X-User");
                Mono<Principal> principal = Mono.justOrEmpty(user == null ? null : () -> user);
                return chain.filter(exchange.mutate().principal(principal).build());
            };
        }

        @Bean
        WebFilter filtered(Service service) {
            return (exchange, chain) -> exchange.getRequest().getHeaders().containsHeader("X-Filtered")
                    ? service.filtered().then(chain.filter(exchange))
                    : chain.filter(exchange);
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class SpringsFilter {

        @Bean
        ServerWebExchangeContextFilter contextFilter() {
            return new ServerWebExchangeContextFilter();
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class Interceptor implements WebFluxConfigurer {

        @Override
        public void addErrorResponseInterceptors(List<ErrorResponse.Interceptor> interceptors) {
            interceptors.add((problem, response) -> problem.setProperty("intercepted", true));
        }
    }
}
