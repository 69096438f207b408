package io.ratelimit.web;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.annotation.RateLimited;
import io.ratelimit.autoconfigure.RecordingListener;
import io.ratelimit.autoconfigure.StoppedClock;
import io.ratelimit.spi.TimeSource;
import io.ratelimit.testing.ForegroundLog;
import io.ratelimit.testing.LongRunning;
import java.io.IOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.BiConsumer;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/** A value that a client chooses causes no more than a 400, whatever the value, the return type and the web stack. */
@LongRunning
@ExtendWith({SharedApplication.class, OutputCaptureExtension.class})
class ClientValueTests {

    private static final HttpClient CLIENT = HttpClient.newHttpClient();

    /** Stands for a parameter or a header that the client does not send. */
    private static final String ABSENT = "absent";

    /** Texts that are no number of permits. */
    private static final List<String> NO_PERMITS = List.of(
            "-1",
            "-9223372036854775808",
            "1000000001",
            "9223372036854775807",
            "9223372036854775808",
            "1.5",
            "NaN",
            "1e400",
            "0x10",
            "many",
            "1 2",
            "9".repeat(1500),
            ABSENT);

    private static final String[] RULES = {
        // A connection for each request, as in WebFluxHttpTests.
        "server.netty.max-keep-alive-requests=1",
        "server.max-http-request-header-size=64KB",
        "server.netty.max-initial-line-length=64KB",
        "ratelimit.limits.url.capacity=100",
        "ratelimit.limits.url.rate=100/m",
        "ratelimit.limits.url.permits=header('X-Value')",
        "ratelimit.http[0].path=/url",
        "ratelimit.http[0].limit=url",
        "ratelimit.limits.variable.capacity=100",
        "ratelimit.limits.variable.rate=100/m",
        "ratelimit.limits.variable.permits=#pages",
        "ratelimit.http[1].path=/variable/{pages}",
        "ratelimit.http[1].limit=variable",
        "ratelimit.limits.url-key.rate=100/m",
        "ratelimit.limits.url-key.key-expression=header('X-Value').split(' ')[1]",
        "ratelimit.http[2].path=/url-key",
        "ratelimit.http[2].limit=url-key",
        "ratelimit.limits.url-plan.rate=100/m",
        "ratelimit.limits.url-plan.plan-expression=header('X-Value')",
        "ratelimit.limits.url-plan.plans.pro.rate=1000/m",
        "ratelimit.http[3].path=/url-plan",
        "ratelimit.http[3].limit=url-plan",
        "ratelimit.limits.plan.plans.pro.rate=1000/m",
        "ratelimit.limits.url-pattern.rate=100/m",
        "ratelimit.limits.url-pattern.condition=header('X-Value') matches '(a|b)*'",
        "ratelimit.http[4].path=/url-pattern",
        "ratelimit.http[4].limit=url-pattern",
        "ratelimit.limits.url-uri.rate=100/m",
        "ratelimit.limits.url-uri.key-expression=new java.net.URI(header('X-Value')).path",
        "ratelimit.http[5].path=/url-uri",
        "ratelimit.http[5].limit=url-uri"
    };

    @ParameterizedTest
    @EnumSource(names = {"SERVLET", "REACTIVE"})
    void permitsThatAreNoWholeNumberAreAnsweredWith400(WebApplicationType type, CapturedOutput output) {
        with(type, (application, reached) -> {
            int before = output.getAll().length();
            for (String path : List.of("/blocking", "/future", "/mono", "/flux", "/url")) {
                for (String value : NO_PERMITS) {
                    assertInvalid(path, get(application, path, value));
                }
                RecordingListener listener = application.getBean(RecordingListener.class);
                assertThat(listener.charges()).as("charges of %s", path).isEmpty();
                assertThat(get(application, path, "101").status()).as(path).isEqualTo(429);
                assertThat(get(application, path, "100").status()).as(path).isEqualTo(200);
                listener.forgetDecisions();
            }
            for (String value : List.of("-1", "1000000001", "many", "1.5")) {
                assertInvalid("/variable", get(application, "/variable/" + value, ABSENT));
            }
            assertThat(reached).containsExactly("blocking", "future", "mono", "flux", "url");
            assertThat(warnings(output, before, "with an invalid value"))
                    .hasSize(6)
                    .allMatch(line -> line.contains("; answering 400. Logged at most once a minute"));
        });
    }

    /** Not only a whole number: {@code ?number=NaN} is a number for Spring. */
    @ParameterizedTest
    @EnumSource(names = {"SERVLET", "REACTIVE"})
    void numbersThatAreNoPermitsAreAnsweredWith400(WebApplicationType type) {
        with(type, (application, reached) -> {
            for (String value : List.of("-1", "NaN", "Infinity", "-Infinity", "1e30", "0.5", ABSENT)) {
                assertInvalid("/number", get(application, "/number", value));
            }
            assertThat(get(application, "/number", "1e1").header("RateLimit")).contains("r=90;");
            assertThat(reached).containsExactly("number");
        });
    }

    @ParameterizedTest
    @EnumSource(names = {"SERVLET", "REACTIVE"})
    void keyIsAnyTextAndWhatNoKeyCanBeReadFromIsAnsweredWith400(WebApplicationType type, CapturedOutput output) {
        with(type, (application, reached) -> {
            int before = output.getAll().length();
            for (String key : List.of("{}", "}{a", "\r\n", "\0", "%", "*", "ü€𝄞", "x".repeat(1500))) {
                HttpAnswer answer = get(application, "/key", key);
                assertThat(answer.status()).as(answer.body()).isEqualTo(200);
            }
            assertInvalid("/key", get(application, "/key", ABSENT));
            assertInvalid("/key", get(application, "/key", ""));
            for (String value : List.of("Bearer", "", ABSENT)) {
                assertInvalid("/url-key", get(application, "/url-key", value));
            }
            assertThat(get(application, "/url-key", "Bearer me").status()).isEqualTo(200);
            assertThat(warnings(output, before, "")).hasSize(2);
        });
    }

    /** Not with a 500 and a stack trace, and not by a connection that is closed without an answer. */
    @ParameterizedTest
    @EnumSource(names = {"SERVLET", "REACTIVE"})
    void exceptionOfWhatAnExpressionCallsIsAnsweredWith400(WebApplicationType type, CapturedOutput output) {
        with(type, (application, reached) -> {
            int before = output.getAll().length();
            for (int i = 0; i < 2; i++) {
                for (String path : List.of("/pattern", "/url-pattern")) {
                    assertInvalid(path, get(application, path, "ab".repeat(5000)));
                }
                for (String path : List.of("/uri", "/url-uri")) {
                    assertInvalid(path, get(application, path, "%%"));
                }
                assertInvalid("/optional", get(application, "/optional", ABSENT));
                assertInvalid("/list", get(application, "/list", ""));
                assertInvalid("/index", get(application, "/index", ABSENT));
            }
            for (String path : List.of("/pattern", "/url-pattern", "/uri", "/url-uri", "/optional", "/list")) {
                assertThat(get(application, path, "ab").status()).as(path).isEqualTo(200);
            }
            assertThat(warnings(output, before, "with an invalid value")).hasSize(7);
        });
    }

    @ParameterizedTest
    @EnumSource(names = {"SERVLET", "REACTIVE"})
    void unknownPlanHasTheLimitsOwnNumbers(WebApplicationType type, CapturedOutput output) {
        with(type, (application, reached) -> {
            int before = output.getAll().length();
            for (String path : List.of("/plan", "/url-plan")) {
                for (String plan : List.of("gold", "", " ", "a.b", "-", "x".repeat(1500), ABSENT)) {
                    HttpAnswer answer = get(application, path, plan);
                    assertThat(answer.status()).as(answer.body()).isEqualTo(200);
                    assertThat(answer.header("RateLimit-Policy")).contains("q=100;");
                }
                assertThat(get(application, path, "pro").header("RateLimit-Policy"))
                        .contains("q=1000;");
            }
            assertThat(warnings(output, before, "has no plan")).hasSize(4);
        });
    }

    private static void assertInvalid(String path, HttpAnswer answer) {
        assertThat(answer.status()).as("%s: %s", path, answer.body()).isEqualTo(400);
        assertThat(answer.header("RateLimit")).isNull();
        assertThat(answer.problem())
                .containsEntry("title", "Bad Request")
                .hasEntrySatisfying(
                        "detail",
                        detail -> assertThat(detail.toString())
                                .startsWith("The request ")
                                .contains("rate limit '" + path.substring(1) + "'"));
    }

    /** Returns the warnings with this text, and fails if there is an error. */
    private static List<String> warnings(CapturedOutput output, int before, String text) {
        List<String> lines = ForegroundLog.of(output.getAll().substring(before))
                .lines()
                .filter(line -> !line.contains(" INFO "))
                .toList();
        assertThat(lines).allMatch(line -> line.contains(" WARN "));
        return lines.stream().filter(line -> line.contains(text)).toList();
    }

    private static void with(WebApplicationType type, BiConsumer<ConfigurableApplicationContext, List<String>> test) {
        SharedApplication.with(Application.class, type, RULES, context -> {
            List<String> reached = context.getBean(Application.class).reached;
            reached.clear();
            test.accept(context, reached);
        });
    }

    /** Sends the value as a parameter and, as far as a header can have it, as a header. */
    private static HttpAnswer get(ConfigurableApplicationContext application, String path, String value) {
        String port = application.getEnvironment().getRequiredProperty("local.server.port");
        boolean absent = value.equals(ABSENT);
        String query = absent ? "" : "?value=" + URLEncoder.encode(value, StandardCharsets.UTF_8);
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path + query));
        if (!absent && value.chars().allMatch(c -> c >= ' ' && c < 127)) {
            request.header("X-Value", value);
        }
        try {
            return new HttpAnswer(CLIENT.send(request.build(), BodyHandlers.ofString()));
        } catch (IOException ex) {
            throw new IllegalStateException(path, ex);
        } catch (InterruptedException ex) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(ex);
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Application {

        /** The handlers and methods that have run. */
        private final List<String> reached = new CopyOnWriteArrayList<>();

        @Bean
        TimeSource time() {
            return new StoppedClock();
        }

        @Bean
        RecordingListener listener() {
            return new RecordingListener();
        }

        @Bean
        Service service() {
            return new Service(reached);
        }

        @Bean
        Handlers handlers() {
            return new Handlers(reached);
        }

        @Bean
        Blocking blocking(Service service) {
            return new Blocking(service);
        }
    }

    static class Service {

        private final List<String> reached;

        Service(List<String> reached) {
            this.reached = reached;
        }

        @RateLimited(name = "blocking", capacity = 100, rate = "100/m", permits = "#pages")
        public String blocking(String pages) {
            reached.add("blocking");
            return "done";
        }
    }

    @RestController
    static class Blocking {

        private final Service service;

        Blocking(Service service) {
            this.service = service;
        }

        /** On a thread that may block, also in a reactive application. */
        @GetMapping("/blocking")
        public Mono<String> blocking(@RequestParam(required = false) String value) {
            return Mono.fromCallable(() -> service.blocking(value)).subscribeOn(Schedulers.boundedElastic());
        }
    }

    @RestController
    static class Handlers {

        private final List<String> reached;

        Handlers(List<String> reached) {
            this.reached = reached;
        }

        @GetMapping("/future")
        @RateLimited(name = "future", capacity = 100, rate = "100/m", permits = "#value")
        public CompletableFuture<String> future(@RequestParam(required = false) String value) {
            reached.add("future");
            return CompletableFuture.completedFuture("done");
        }

        @GetMapping("/mono")
        @RateLimited(name = "mono", capacity = 100, rate = "100/m", permits = "T(Integer).parseInt(#value)")
        public Mono<String> mono(@RequestParam(required = false) String value) {
            return Mono.fromRunnable(() -> reached.add("mono"));
        }

        @GetMapping("/flux")
        @RateLimited(name = "flux", capacity = 100, rate = "100/m", permits = "#value")
        public Flux<String> flux(@RequestParam(required = false) String value) {
            return Flux.defer(() -> {
                reached.add("flux");
                return Flux.just("do", "ne");
            });
        }

        @GetMapping("/number")
        @RateLimited(name = "number", capacity = 100, rate = "100/m", permits = "#value")
        public Mono<String> number(@RequestParam(required = false) Double value) {
            return Mono.fromRunnable(() -> reached.add("number"));
        }

        @GetMapping("/key")
        @RateLimited(name = "key", rate = "100/m", keyExpression = "#value")
        public Mono<String> key(@RequestParam(required = false) String value) {
            return Mono.just("done");
        }

        @GetMapping("/plan")
        @RateLimited(name = "plan", rate = "100/m", planExpression = "#value")
        public Mono<String> plan(@RequestParam(required = false) String value) {
            return Mono.just("done");
        }

        @GetMapping("/pattern")
        @RateLimited(name = "pattern", rate = "100/m", condition = "#value matches '(a|b)*'")
        public Mono<String> pattern(@RequestParam String value) {
            return Mono.just("done");
        }

        @GetMapping("/uri")
        @RateLimited(name = "uri", rate = "100/m", keyExpression = "new java.net.URI(#value).path")
        public CompletableFuture<String> uri(@RequestParam String value) {
            return CompletableFuture.completedFuture("done");
        }

        @GetMapping("/optional")
        @RateLimited(name = "optional", rate = "100/m", keyExpression = "#value.get()")
        public Mono<String> optional(@RequestParam Optional<String> value) {
            return Mono.just("done");
        }

        @GetMapping("/list")
        @RateLimited(name = "list", rate = "100/m", keyExpression = "#value.iterator().next()")
        public Mono<String> list(@RequestParam List<String> value) {
            return Mono.just("done");
        }

        @GetMapping("/index")
        @RateLimited(name = "index", rate = "100/m", keyExpression = "{'a', 'b'}[#value]")
        public Mono<String> index(@RequestParam(required = false) Integer value) {
            return Mono.just("done");
        }

        @GetMapping({"/url", "/url-key", "/url-plan", "/url-pattern", "/url-uri", "/variable/{pages}"})
        public Mono<String> url() {
            return Mono.fromRunnable(() -> reached.add("url"));
        }
    }
}
