package io.ratelimit.web;

import static org.assertj.core.api.Assertions.assertThat;
import static org.springframework.web.servlet.function.RequestPredicates.path;

import io.ratelimit.RateLimit;
import io.ratelimit.RateLimiter;
import io.ratelimit.RateLimiterRegistry;
import io.ratelimit.annotation.RateLimited;
import io.ratelimit.testing.ForegroundLog;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletRequestWrapper;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.security.Principal;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.http.MediaType;
import org.springframework.stereotype.Controller;
import org.springframework.web.ErrorResponse;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.ResponseBody;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.context.request.RequestAttributes;
import org.springframework.web.context.request.RequestContextHolder;
import org.springframework.web.context.request.async.DeferredResult;
import org.springframework.web.filter.OncePerRequestFilter;
import org.springframework.web.servlet.HandlerInterceptor;
import org.springframework.web.servlet.config.annotation.InterceptorRegistry;
import org.springframework.web.servlet.config.annotation.WebMvcConfigurer;
import org.springframework.web.servlet.function.RouterFunction;
import org.springframework.web.servlet.function.RouterFunctions;
import org.springframework.web.servlet.function.ServerResponse;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** On Tomcat. */
class ServletHttpTests extends HttpContract {

    @Override
    HttpApplication start(List<Class<?>> more, String... properties) {
        Class<?>[] sources = Stream.concat(
                        more.stream(), Stream.of(Endpoints.class, Dispatching.class, Service.class, Beans.class))
                .toArray(Class<?>[]::new);
        return new HttpApplication(redis, WebApplicationType.SERVLET, sources, properties);
    }

    @Override
    Class<?> interceptor() {
        return Interceptor.class;
    }

    /** @param naming whether other advice, which is for other controllers, names rejections */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void adviceForEveryExceptionThatComesFirstDoesNotGetRejections(boolean naming, CapturedOutput output) {
        List<Class<?>> advice = new ArrayList<>(List.of(FirstCatchAllAdvice.class));
        if (naming) {
            advice.add(OwnAdviceOfOthers.class);
        }
        int before = output.getAll().length();
        try (HttpApplication own =
                start(advice, "ratelimit.http[0].path=/broken", "ratelimit.http[0].limit=limited-stream")) {
            for (String path : List.of("/mono", "/future", "/functional", "/acquire", "/joined-once")) {
                assertThat(own.get(path).status()).as(path).isEqualTo(200);
                assertThat(own.get(path).status()).as(path).isEqualTo(429);
            }
            assertThat(own.get("/by-header").status()).isEqualTo(400);
            assertThat(own.get("/broken").body()).isEqualTo("caught IllegalStateException");
            assertThat(own.get("/broken").status()).isEqualTo(429);
        }
        assertThat(output.getAll().substring(before)).doesNotContain("every exception");
    }

    @Test
    void startUpWarnsOfAdviceForEveryExceptionBeforeTheApplicationsOwn(CapturedOutput output) {
        int before = output.getAll().length();
        start(List.of(FirstCatchAllAdvice.class, OwnAdvice.class)).close();
        assertThat(output.getAll().substring(before))
                .containsOnlyOnce("handles every exception")
                .contains(FirstCatchAllAdvice.class.getName());
    }

    @ParameterizedTest
    @ValueSource(strings = {"json", "text/", "*/plain, text/html;q=x"})
    void malformedAcceptIsNoReasonForAnotherAnswer(String accept) {
        get("/quotes");
        get("/quotes");
        get("/quotes", "Accept", accept).isRejected("\"quotes\";r=0;t=3", "3", "quotes");
    }

    @Test
    void futureSaysHowTheCallerStands() {
        get("/future").isAllowed("\"future\";r=0;t=1");
        get("/future").isRejected("\"future\";r=0;t=1", "1", "future");
    }

    @ParameterizedTest
    @ValueSource(strings = {"/callable", "/deferred", "/joined"})
    void decisionOfAnotherThreadIsSaidToo(String path) {
        for (int i = 9; i >= 0; i--) {
            get(path).isAllowed("\"service\";r=" + i + ";t=" + (10 - i));
        }
        get(path).isRejected("\"service\";r=0;t=1", "1", "service");
    }

    @ParameterizedTest
    @ValueSource(strings = {"/forward", "/include", "/include-twice", "/error-page", "/again"})
    void requestThatIsDispatchedAnewPaysOnce(String path) {
        assertThat(get(path).header("RateLimit")).isEqualTo("\"service\";r=9;t=1");
        assertThat(get(path).header("RateLimit")).isEqualTo("\"service\";r=8;t=2");
    }

    @Test
    void whatOnlyTheLaterDispatchAsksForIsPaidEveryTime() {
        assertThat(get("/forward-thrice").header("RateLimit")).isEqualTo("\"other\";r=6;t=1, \"service\";r=7;t=3");
    }

    /** Whether there are fields depends on which is there first, the decision or the first event. */
    @Test
    void rejectionInAStreamedFluxEndsItQuietly(CapturedOutput output) {
        int before = output.getAll().length();
        assertThat(get("/streamed-flux").body()).contains("one", "two");
        HttpAnswer rejected = get("/streamed-flux");
        assertThat(rejected.status()).isEqualTo(200);
        assertThat(rejected.body().strip()).isEqualTo("data:one");
        assertThat(ForegroundLog.of(output.getAll().substring(before))).doesNotContain("ERROR", "WARN", "Exception");
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
        public String quotes() {
            return "42";
        }

        @GetMapping("/strict")
        @RateLimited(name = "strict", capacity = 2, rate = "2/5s", blockFor = "1m, 10m")
        public String strict() {
            return "42";
        }

        @GetMapping("/several")
        @RateLimited(name = "burst", capacity = 2, rate = "1/s")
        @RateLimited(name = "daily", capacity = 5, rate = "5/d")
        public String several() {
            return "42";
        }

        @GetMapping("/service")
        public String service() {
            return service.call();
        }

        @GetMapping("/thrice")
        public String thrice() {
            return service.call() + service.call() + service.call();
        }

        @GetMapping("/costly")
        @RateLimited(name = "costly", capacity = 2, rate = "1/s", permits = "5")
        public String costly() {
            return "42";
        }

        @GetMapping("/dry")
        @RateLimited(name = "dry", capacity = 1, rate = "1/h")
        @RateLimited(name = "off", capacity = 1, rate = "1/h")
        @RateLimited(name = "seen", capacity = 5, rate = "1/s")
        public String dry() {
            return "42";
        }

        @GetMapping("/by-ip")
        @RateLimited(name = "by-ip", capacity = 2, rate = "1/s", keyExpression = "clientIp")
        public String byIp() {
            return "42";
        }

        @GetMapping("/by-principal")
        @RateLimited(name = "by-principal", rate = "1/s", keyExpression = "principal")
        public String byPrincipal() {
            return "42";
        }

        @GetMapping("/by-header-of-service")
        public String byHeaderOfService() {
            return service.byHeader();
        }

        @GetMapping("/by-header")
        @RateLimited(name = "by-header", rate = "1/s", keyExpression = "header('X-Api-Key')")
        public String byHeader() {
            return "42";
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

        /** Sends the first before it asks for the second. */
        @GetMapping("/stream")
        public void stream(HttpServletResponse response) throws IOException {
            response.setContentType(MediaType.TEXT_EVENT_STREAM_VALUE);
            response.getWriter().write("data:one\n\n");
            response.flushBuffer();
            response.getWriter().write("data:" + service.streamed() + "\n\n");
        }

        @GetMapping(path = "/streamed-flux", produces = MediaType.TEXT_EVENT_STREAM_VALUE)
        public Flux<String> streamedFlux() {
            return Flux.just("one", "two").map(event -> event.equals("one") ? event : service.streamed());
        }

        @GetMapping(path = "/limited-stream", produces = MediaType.TEXT_EVENT_STREAM_VALUE)
        @RateLimited(name = "limited-stream", rate = "1/s")
        public Flux<String> limitedStream() {
            return Flux.just("one");
        }

        @GetMapping("/acquire")
        public String acquire() {
            byHand.acquire("alice");
            return "42";
        }

        @GetMapping("/broken")
        public String broken() {
            throw new IllegalStateException();
        }

        @GetMapping("/callable")
        public Callable<String> callable() {
            return service::call;
        }

        @GetMapping("/deferred")
        public DeferredResult<String> deferred() {
            DeferredResult<String> result = new DeferredResult<>();
            RequestAttributes request = RequestContextHolder.getRequestAttributes();
            Thread thread = new Thread(() -> {
                RequestContextHolder.setRequestAttributes(request);
                try {
                    result.setResult(service.call());
                } catch (RuntimeException ex) {
                    result.setErrorResult(ex);
                }
            });
            thread.start();
            return result;
        }

        @GetMapping("/joined-once")
        public String joinedOnce() {
            return service.futureOnce().join();
        }

        @GetMapping("/joined")
        public String joined() {
            return service.future().join();
        }
    }

    /** What a container does with a request besides handling it. */
    @Controller
    static class Dispatching {

        private final Service service;

        Dispatching(Service service) {
            this.service = service;
        }

        @GetMapping("/forward")
        String forward() {
            service.call();
            return "forward:/service";
        }

        @GetMapping("/forward-thrice")
        String forwardThrice() {
            service.other();
            return "forward:/others";
        }

        @GetMapping("/others")
        @ResponseBody
        String others() {
            service.other();
            return service.call() + service.call() + service.call();
        }

        @GetMapping("/include")
        void include(HttpServletRequest request, HttpServletResponse response) throws ServletException, IOException {
            service.call();
            request.getRequestDispatcher("/service").include(request, response);
        }

        @GetMapping("/include-twice")
        void includeTwice(HttpServletRequest request, HttpServletResponse response)
                throws ServletException, IOException {
            request.getRequestDispatcher("/service").include(request, response);
            request.getRequestDispatcher("/service").include(request, response);
        }

        @GetMapping("/error-page")
        void errorPage(HttpServletResponse response) throws IOException {
            service.call();
            response.sendError(418);
        }

        @GetMapping("/again")
        @ResponseBody
        Callable<String> again() {
            return () -> "42";
        }
    }

    static class Service {

        @RateLimited(name = "service", capacity = 10, rate = "1/s")
        public String call() {
            return "42";
        }

        @RateLimited(name = "service", capacity = 10, rate = "1/s")
        public CompletableFuture<String> future() {
            return CompletableFuture.completedFuture("42");
        }

        @RateLimited(name = "once", rate = "1/s")
        public CompletableFuture<String> futureOnce() {
            return CompletableFuture.completedFuture("42");
        }

        @RateLimited(name = "other", capacity = 7, rate = "1/s")
        public String other() {
            return "42";
        }

        @RateLimited(name = "by-header-of-service", rate = "1/s", keyExpression = "header('X-Api-Key')")
        public String byHeader() {
            return "42";
        }

        @RateLimited(name = "streamed", rate = "1/s")
        public String streamed() {
            return "two";
        }

        @RateLimited(name = "functional", rate = "1/7s")
        public String functional() {
            return "42";
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class Beans implements WebMvcConfigurer {

        private final Service service;

        Beans(Service service) {
            this.service = service;
        }

        @Bean
        static RateLimit byHand() {
            return RateLimit.named("by-hand").rate("1/m").build();
        }

        @Bean
        RouterFunction<ServerResponse> functional() {
            return RouterFunctions.route(
                    path("/functional"), request -> ServerResponse.ok().body(service.functional()));
        }

        @Bean
        static OncePerRequestFilter users() {
            return new OncePerRequestFilter() {
                @Override
                protected void doFilterInternal(
                        HttpServletRequest request, HttpServletResponse response, FilterChain chain)
                        throws ServletException, IOException {
                    String user = request.getHeader("X-User");
                    chain.doFilter(
                            new HttpServletRequestWrapper(request) {
                                @Override
                                public Principal getUserPrincipal() {
                                    return user == null ? null : () -> user;
                                }
                            },
                            response);
                }
            };
        }

        /** Called before the handler of a request, before a result from elsewhere is written, and before an error page. */
        @Override
        public void addInterceptors(InterceptorRegistry registry) {
            registry.addInterceptor(new HandlerInterceptor() {
                        @Override
                        public boolean preHandle(
                                HttpServletRequest request, HttpServletResponse response, Object handler) {
                            service.call();
                            return true;
                        }
                    })
                    .addPathPatterns("/again", "/error");
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class Interceptor implements WebMvcConfigurer {

        @Override
        public void addErrorResponseInterceptors(List<ErrorResponse.Interceptor> interceptors) {
            interceptors.add((problem, response) -> problem.setProperty("intercepted", true));
        }
    }
}
