package io.ratelimit.web;

import static io.ratelimit.web.ServletRequestApplication.and;
import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.RateLimitExceededException;
import io.ratelimit.annotation.RateLimited;
import io.ratelimit.autoconfigure.RecordingListener;
import io.ratelimit.autoconfigure.StoppedClock;
import io.ratelimit.testing.LongRunning;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.webflux.error.ErrorWebExceptionHandler;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.Profile;
import org.springframework.core.annotation.Order;
import org.springframework.http.HttpStatus;
import org.springframework.http.server.reactive.ServerHttpResponse;
import org.springframework.web.ErrorResponse;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.bind.annotation.RestControllerAdvice;
import org.springframework.web.cors.CorsConfiguration;
import org.springframework.web.cors.reactive.CorsConfigurationSource;
import org.springframework.web.cors.reactive.CorsWebFilter;
import org.springframework.web.filter.reactive.UrlHandlerFilter;
import org.springframework.web.reactive.config.CorsRegistry;
import org.springframework.web.reactive.config.WebFluxConfigurer;
import org.springframework.web.reactive.function.server.RouterFunction;
import org.springframework.web.reactive.function.server.RouterFunctions;
import org.springframework.web.reactive.function.server.ServerResponse;
import org.springframework.web.server.WebFilter;
import reactor.core.publisher.Mono;

/** Limits of URLs on a real Netty. */
@LongRunning
@ExtendWith(SharedApplication.class)
class ReactiveRequestLimitTests {

    static final String[] ANY = {
        "ratelimit.limits.any.rate=1/h", "ratelimit.http[0].path=/any", "ratelimit.http[0].limit=any"
    };

    private static final List<String> SPELLINGS = List.of(
            "GET /any",
            "get /any",
            "FOO /any",
            "HEAD /any",
            "GET /any/",
            "GET /any;jsessionid=1",
            "GET /;x/any",
            "GET /%61ny",
            "GET //any",
            "GET /./any",
            "GET /x/../any",
            "GET /%2e/any",
            "GET /any?x=/other",
            "GET /any//",
            "GET /any/;x",
            "GET http://elsewhere/any");

    /** Of a file that WebFlux serves, which it looks for by the decoded path. */
    private static final List<String> FILE_SPELLINGS = List.of(
            "/files/x.txt",
            "//files/x.txt",
            "/./files/x.txt",
            "/%2e/files/x.txt",
            "/%2ffiles/x.txt",
            "/files%2fx.txt",
            "/%5cfiles/x.txt",
            "/files%5Cx.txt",
            "/.%2ffiles/x.txt",
            "/%2f%2ffiles/x.txt",
            "/%66iles/x.txt",
            "//files//x.txt");

    @Test
    void adviceOfTheApplicationAnswersARequestBeyondTheLimit() {
        with(and(ANY, "spring.profiles.active=advice"), app -> {
            assertThat(app.http.send("GET /any").status()).isEqualTo(200);
            RawHttp.Answer rejected = app.http.send("GET /any");
            assertThat(rejected.status()).isEqualTo(423);
            assertThat(rejected.text()).endsWith("no any for you");
            assertThat(app.http.send("GET /other").status()).isEqualTo(200);
            assertThat(app.application().reached).containsExactly("any", "other");
        });
    }

    @Test
    void requestBeyondTheLimitIsAnsweredAsOneOfAHandler() {
        with(ANY, app -> {
            assertThat(app.http.send("GET /any").text())
                    .startsWith("HTTP/1.1 200")
                    .containsIgnoringCase("RateLimit: \"any\";r=0;t=3600");
            RawHttp.Answer rejected = app.http.send("GET /any");
            assertThat(rejected.status()).isEqualTo(429);
            assertThat(rejected.text())
                    .containsIgnoringCase("Retry-After: 3600")
                    .containsIgnoringCase("RateLimit: \"any\";r=0;t=3600")
                    .contains("application/problem+json", "quota-exceeded", "\"violated-policies\":[\"any\"]");
            assertThat(app.application().reached).containsExactly("any");
        });
    }

    @Test
    void failureOfTheHandlerIsNotOurs() {
        String[] properties = {
            "ratelimit.limits.all.rate=9/h", "ratelimit.http[0].path=/**", "ratelimit.http[0].limit=all"
        };
        with(and(properties, "spring.profiles.active=advice"), app -> {
            assertThat(app.http.send("GET /failing").status()).isEqualTo(500);
            assertThat(app.application().reached).containsExactly("failing");
            assertThat(app.listener().outcomes()).containsExactly("all ALLOWED");
        });
    }

    @Test
    void spellingThatReachesTheHandlerIsCharged() {
        with(and(ANY, "spring.profiles.active=slash,advice"), app -> {
            for (String spelling : SPELLINGS) {
                app.application().reached.clear();
                app.http.send("GET /any");
                assertThat(app.http.send(spelling).status()).as(spelling).isIn(423, 400, 404);
                assertThat(app.application().reached).as(spelling).containsExactly("any");
                app.context.getBean(StoppedClock.class).advance(Duration.ofHours(1));
            }
        });
    }

    @Test
    void spellingThatReachesAFileIsCharged() {
        String[] properties = {
            "ratelimit.limits.files.rate=1/h", "ratelimit.http[0].path=/files/**", "ratelimit.http[0].limit=files"
        };
        with(properties, app -> {
            for (String spelling : FILE_SPELLINGS) {
                assertThat(app.http.send("GET " + spelling).text()).as(spelling).endsWith("a file\n");
                assertThat(app.http.send("GET " + spelling).status())
                        .as(spelling)
                        .isEqualTo(429);
                app.context.getBean(StoppedClock.class).advance(Duration.ofHours(1));
            }
        });
    }

    /** {@code %zz} is no encoding; {@code %2561} is one of {@code %61}, which is not decoded again. */
    @Test
    void pathIsNeitherDecodedTwiceNorInVain() {
        with(ANY, app -> {
            for (String spelling : List.of("/%2561ny", "/any%zz", "/x%2f..", "/%2e%2e")) {
                assertThat(app.http.send("GET " + spelling).status())
                        .as(spelling)
                        .isIn(400, 404);
            }
            assertThat(app.listener().outcomes()).isEmpty();
        });
    }

    /** As a reference, what follows two slashes would be a host. */
    @ParameterizedTest
    @CsvSource({"//,/", "///,/", "//evil.example/x,/evil.example/x", "/x//y,/x//y"})
    void pathThatIsNoReferenceIsAnsweredAsAnyOther(String path, String instance) {
        String[] properties = {
            "ratelimit.limits.all.rate=1/h", "ratelimit.http[0].path=/**", "ratelimit.http[0].limit=all"
        };
        with(properties, app -> {
            app.http.send("GET /other");
            RawHttp.Answer rejected = app.http.send("GET " + path);
            assertThat(rejected.text()).startsWith("HTTP/1.1 429").contains("\"instance\":\"" + instance + "\"");
        });
    }

    @ParameterizedTest
    @ValueSource(strings = {"json", "text/", "*/plain"})
    void malformedAcceptIsNoReasonForAnotherAnswer(String accept) {
        with(ANY, app -> {
            app.http.send("GET /any");
            assertThat(app.http.send("GET /any", "Accept: " + accept).text())
                    .startsWith("HTTP/1.1 429")
                    .contains("application/problem+json", "quota-exceeded");
        });
    }

    /** Spring sorts no more than 50 types. */
    @Test
    void longAcceptIsNoReasonForAnotherAnswer() {
        malformedAcceptIsNoReasonForAnotherAnswer("text/html" + ",image/png".repeat(60));
    }

    @Test
    void malformedOriginIsNoReasonForAnotherAnswer() {
        with(ANY, app -> {
            app.http.send("GET /any");
            assertThat(app.http.send("GET /any", "Origin: %%%").status()).isEqualTo(429);
        });
    }

    @Test
    void basePathIsNotPartOfTheRule() {
        with(and(ANY, "spring.webflux.base-path=/base", "spring.profiles.active=advice"), app -> {
            assertThat(app.http.send("GET /base/any").status()).isEqualTo(200);
            assertThat(app.http.send("GET /base/any").status()).isEqualTo(423);
        });
    }

    @ParameterizedTest
    @CsvSource({"clientIp,127.0.0.1", "header('X-Api-Key'),k-1", "principal?.name ?: 'nobody',alice", "#name,any"})
    void keyIsWhatTheConfigurationSays(String expression, String key) {
        String[] properties = {
            "ratelimit.limits.any.rate=1/h",
            "ratelimit.limits.any.key-expression=" + expression,
            "ratelimit.http[0].path=/{name}",
            "ratelimit.http[0].limit=any",
            "ratelimit.web.filter-order=-99",
            "spring.profiles.active=login"
        };
        with(properties, app -> {
            app.http.send("GET /any", "X-Api-Key: k-1");
            assertThat(app.listener().keys()).containsExactly(key);
        });
    }

    @ParameterizedTest
    @ValueSource(strings = {"header('X-Api-Key')", "header('Empty')", "principal", "principal.name"})
    void requestWithoutAKeyIsTheClientsMistakeAndGetsNoBucketOfStrangers(String expression) {
        with(and(ANY, "ratelimit.limits.any.key-expression=" + expression), app -> {
            RawHttp.Answer answer = app.http.send("GET /any", "Empty:");
            assertThat(answer.status()).isEqualTo(400);
            assertThat(answer.text())
                    .contains("application/problem+json")
                    .containsOnlyOnce("rate limit 'any'")
                    .doesNotContain("X-Api-Key", "principal");
            assertThat(app.application().reached).isEmpty();
        });
    }

    static void with(String[] properties, Consumer<Started> test) {
        SharedApplication.with(Application.class, WebApplicationType.REACTIVE, properties, context -> {
            Started started = new Started(context);
            started.application().reached.clear();
            test.accept(started);
        });
    }

    static final class Started {

        private final ConfigurableApplicationContext context;

        final RawHttp http;

        Started(ConfigurableApplicationContext context) {
            this.context = context;
            this.http =
                    new RawHttp(Integer.parseInt(context.getEnvironment().getRequiredProperty("local.server.port")));
        }

        Application application() {
            return context.getBean(Application.class);
        }

        RecordingListener listener() {
            return context.getBean(RecordingListener.class);
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    @Import(OwnAnswers.class)
    static class Application {

        final List<String> reached = new CopyOnWriteArrayList<>();

        @Bean
        StoppedClock time() {
            return new StoppedClock();
        }

        @Bean
        RecordingListener listener() {
            return new RecordingListener();
        }

        @Bean
        Handlers handlers() {
            return new Handlers(this);
        }

        @Bean
        RouterFunction<ServerResponse> functional(Handlers handlers) {
            return RouterFunctions.route()
                    .GET(
                            "/functional",
                            request -> handlers.functional()
                                    .flatMap(text -> ServerResponse.ok().bodyValue(text)))
                    .build();
        }

        @Bean
        @Profile("advice")
        Advice advice() {
            return new Advice();
        }

        @Bean
        @Profile("slash")
        @Order(0)
        WebFilter slashes() {
            return UrlHandlerFilter.trailingSlashHandler("/**").mutateRequest().build();
        }

        @Bean
        @Profile("cors-handlers")
        WebFluxConfigurer corsOfHandlers() {
            return new WebFluxConfigurer() {
                @Override
                public void addCorsMappings(CorsRegistry registry) {
                    registry.addMapping("/**")
                            .allowedOrigins("https://good.example")
                            .exposedHeaders("RateLimit");
                }
            };
        }

        @Bean
        @Profile("cors-filter")
        CorsWebFilter corsFilter() {
            return new CorsWebFilter(origins());
        }

        @Bean
        @Profile("cors-source")
        CorsConfigurationSource corsConfigurationSource() {
            return origins();
        }

        private static CorsConfigurationSource origins() {
            CorsConfiguration origins = new CorsConfiguration();
            origins.setAllowedOrigins(List.of("https://good.example"));
            origins.setExposedHeaders(List.of("RateLimit"));
            return exchange -> origins;
        }

        @Bean
        @Profile("error-handling")
        @Order(-2)
        ErrorWebExceptionHandler errorHandling() {
            return (exchange, failure) -> {
                ServerHttpResponse response = exchange.getResponse();
                response.setStatusCode(
                        failure instanceof ErrorResponse known
                                ? known.getStatusCode()
                                : HttpStatus.INTERNAL_SERVER_ERROR);
                byte[] text = ("handled " + response.getStatusCode().value()).getBytes(StandardCharsets.UTF_8);
                return response.writeWith(Mono.just(response.bufferFactory().wrap(text)));
            };
        }

        @Bean
        @Profile("login")
        @Order(-100)
        WebFilter login() {
            return (exchange, chain) -> chain.filter(
                    exchange.mutate().principal(Mono.just(() -> "alice")).build());
        }
    }

    @RestControllerAdvice
    static class Advice {

        @ExceptionHandler
        @ResponseStatus(HttpStatus.LOCKED)
        public String rejected(RateLimitExceededException rejection) {
            return "no " + rejection.getLimitName() + " for you";
        }
    }

    @RestController
    static class Handlers {

        private final Application application;

        Handlers(Application application) {
            this.application = application;
        }

        @RequestMapping("/any")
        public String any() {
            application.reached.add("any");
            return "any";
        }

        @GetMapping("/annotated")
        @RateLimited(name = "annotated", rate = "1/h")
        public Mono<String> annotated() {
            return Mono.just("annotated");
        }

        @GetMapping("/future")
        @RateLimited(name = "future", rate = "1/h")
        public CompletableFuture<String> future() {
            return CompletableFuture.completedFuture("future");
        }

        @GetMapping("/mono")
        @RateLimited(name = "mono", rate = "1/h")
        public Mono<String> mono() {
            return Mono.just("mono");
        }

        @RateLimited(name = "functional", rate = "1/h")
        public Mono<String> functional() {
            return Mono.just("functional");
        }

        @GetMapping("/other")
        public String other() {
            application.reached.add("other");
            return "other";
        }

        @GetMapping("/failing")
        public String failing() {
            application.reached.add("failing");
            throw new IllegalStateException("failing");
        }

        @GetMapping("/tenants/{tenant}/x")
        public String tenant(@PathVariable String tenant) {
            return tenant;
        }
    }
}
