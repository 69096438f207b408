package io.ratelimit.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.annotation.RateLimited;
import io.ratelimit.autoconfigure.web.RateLimitReactiveAutoConfiguration;
import io.ratelimit.autoconfigure.web.RateLimitServletAutoConfiguration;
import io.ratelimit.testing.LongRunning;
import io.swagger.v3.oas.models.OpenAPI;
import io.swagger.v3.oas.models.Operation;
import io.swagger.v3.oas.models.PathItem;
import io.swagger.v3.oas.models.Paths;
import io.swagger.v3.oas.models.responses.ApiResponse;
import io.swagger.v3.oas.models.responses.ApiResponses;
import java.io.IOException;
import java.lang.reflect.Method;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.springdoc.core.customizers.GlobalOpenApiCustomizer;
import org.springdoc.core.customizers.GlobalOperationCustomizer;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.AbstractApplicationContextRunner;
import org.springframework.boot.test.context.runner.ReactiveWebApplicationContextRunner;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.boot.webflux.autoconfigure.WebFluxAutoConfiguration;
import org.springframework.boot.webmvc.autoconfigure.WebMvcAutoConfiguration;
import org.springframework.context.ApplicationContext;
import org.springframework.util.ClassUtils;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.method.HandlerMethod;
import reactor.core.publisher.Mono;

/** What springdoc-openapi is told of limits. It is absent from the other tests' class path. */
@LongRunning
class OpenApiDescriptionTests {

    private static final Path SPRINGDOC = Path.of("target/springdoc/springdoc-openapi-starter-common.jar");

    private static final OtherClassPath CLASSES = OtherClassPath.replacing("springdoc", SPRINGDOC);

    private static final String IETF = "[RateLimit, RateLimit-Policy]";

    private static final String REJECTION =
            " exceeded [RateLimit, RateLimit-Policy, Retry-After] {application/problem+json}";

    enum Stack {
        SERVLET,
        REACTIVE
    }

    @AfterAll
    static void close() throws IOException {
        CLASSES.close();
    }

    @ParameterizedTest
    @EnumSource
    void limitedOperationsAreDescribed(Stack stack) throws ReflectiveOperationException, IOException {
        assertThat(describe(stack).lines())
                .containsExactly(
                        "both: 200 ok " + IETF,
                        "both: 429 Rate limit 'quotes' (capacity 2, rate 2/5s) or 'by-url' (capacity 3, rate 3/s)"
                                + REJECTION,
                        "dryRun: 200 ok []",
                        "fallback: 200 ok " + IETF,
                        "free: 200 ok []",
                        "matched: 200 ok " + IETF,
                        "matched: 429 Rate limit 'by-pointcut' (capacity 1, rate 1/h)" + REJECTION,
                        "own: 200 ok " + IETF,
                        "own: 429 mine []",
                        "quotes: 200 ok " + IETF,
                        "quotes: 404 none []",
                        "quotes: 429 Rate limit 'quotes' (capacity 2, rate 2/5s)" + REJECTION,
                        "url: 200 ok " + IETF,
                        "url: 429 Rate limit 'by-url' (capacity 3, rate 3/s)" + REJECTION);
    }

    @Test
    void headersAreThoseOfTheConfiguration() throws ReflectiveOperationException, IOException {
        assertThat(describe(Stack.SERVLET, "ratelimit.web.headers=none"))
                .contains("quotes: 200 ok []\n", "(capacity 2, rate 2/5s) exceeded [Retry-After] {");
        assertThat(describe(Stack.SERVLET, "ratelimit.web.headers=legacy"))
                .contains("quotes: 200 ok [X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset]\n");
    }

    @Test
    void disabledLimitsAreNotDescribed() throws ReflectiveOperationException, IOException {
        assertThat(describe(Stack.SERVLET, "ratelimit.limits.quotes.enabled=false"))
                .contains("quotes: 200 ok []\n")
                .doesNotContain("'quotes'");
    }

    private static String describe(Stack stack, String... properties) throws ReflectiveOperationException, IOException {
        String[] arguments = Stream.concat(Stream.of(stack.name()), Arrays.stream(properties))
                .toArray(String[]::new);
        return (String) CLASSES.run(Application.class, arguments);
    }

    /** Does with its customizers what springdoc-openapi does. */
    public static final class Application {

        private Application() {}

        /** Returns a line for each response. */
        public static String run(String... arguments) {
            StringBuilder text = new StringBuilder();
            runner(Stack.valueOf(arguments[0]))
                    .withUserConfiguration(Handlers.class)
                    .withPropertyValues(
                            "ratelimit.store=in-memory",
                            "ratelimit.limits.by-pointcut.rate=1/h",
                            "ratelimit.limits.by-pointcut.pointcut=execution(* *..Handlers.matched())",
                            "ratelimit.limits.by-url.rate=3/s",
                            "ratelimit.limits.by-url.key-expression=#id",
                            "ratelimit.http[0].path=/by-url/{id}/**",
                            "ratelimit.http[0].methods=GET",
                            "ratelimit.http[0].limit=by-url",
                            "ratelimit.limits.dry-run.dry-run=true")
                    .withPropertyValues(Arrays.copyOfRange(arguments, 1, arguments.length))
                    .run(context -> text.append(describe(context)));
            return text.toString();
        }

        private static AbstractApplicationContextRunner<?, ?, ?> runner(Stack stack) {
            return stack == Stack.SERVLET
                    ? new WebApplicationContextRunner()
                            .withConfiguration(AutoConfigurations.of(
                                    RateLimitAutoConfiguration.class,
                                    RateLimitServletAutoConfiguration.class,
                                    WebMvcAutoConfiguration.class))
                    : new ReactiveWebApplicationContextRunner()
                            .withConfiguration(AutoConfigurations.of(
                                    RateLimitAutoConfiguration.class,
                                    RateLimitReactiveAutoConfiguration.class,
                                    WebFluxAutoConfiguration.class));
        }

        private static String describe(ApplicationContext context) {
            Object handlers = context.getBean("openApiDescriptionTests.Handlers");
            Paths paths = new Paths();
            Map<String, Operation> operations = new TreeMap<>();
            for (Method method : ClassUtils.getUserClass(handlers).getDeclaredMethods()) {
                GetMapping mapping = method.getAnnotation(GetMapping.class);
                if (mapping != null) {
                    Operation operation = operation(method.getName());
                    // Springdoc calls a global customizer again for a group.
                    for (int i = 0; i < 2; i++) {
                        context.getBeanProvider(GlobalOperationCustomizer.class)
                                .forEach(customizer ->
                                        customizer.customize(operation, new HandlerMethod(handlers, method)));
                    }
                    operations.put(method.getName(), operation);
                    paths.addPathItem(mapping.value()[0], new PathItem().get(operation));
                }
            }
            context.getBeanProvider(GlobalOpenApiCustomizer.class)
                    .forEach(customizer -> customizer.customise(new OpenAPI().paths(paths)));
            StringBuilder text = new StringBuilder();
            operations.forEach((name, operation) -> new TreeMap<>(operation.getResponses())
                    .forEach((status, response) -> text.append(name)
                            .append(": ")
                            .append(status)
                            .append(' ')
                            .append(describe(response))
                            .append('\n')));
            return text.toString();
        }

        private static Operation operation(String name) {
            ApiResponses responses = new ApiResponses().addApiResponse("200", new ApiResponse().description("ok"));
            if (name.equals("own")) {
                responses.addApiResponse("429", new ApiResponse().description("mine"));
            }
            if (name.equals("quotes")) {
                responses.addApiResponse("404", new ApiResponse().description("none"));
            }
            return new Operation().responses(responses);
        }

        private static String describe(ApiResponse response) {
            String text = response.getDescription() + " "
                    + (response.getHeaders() == null
                            ? "[]"
                            : new TreeSet<>(response.getHeaders().keySet()));
            return response.getContent() == null
                    ? text
                    : text + " {" + String.join(",", response.getContent().keySet()) + "}";
        }
    }

    @RestController("openApiDescriptionTests.Handlers")
    static class Handlers {

        @GetMapping("/quotes")
        @RateLimited(name = "quotes", capacity = 2, rate = "2/5s")
        public Mono<String> quotes() {
            return Mono.just("42");
        }

        @GetMapping("/own")
        @RateLimited(name = "quotes", capacity = 2, rate = "2/5s")
        public Mono<String> own() {
            return Mono.just("42");
        }

        @GetMapping("/matched")
        public Mono<String> matched() {
            return Mono.just("42");
        }

        @GetMapping("/fallback")
        @RateLimited(name = "with-fallback", rate = "1/s", fallbackMethod = "free")
        public Mono<String> fallback() {
            return Mono.just("42");
        }

        @GetMapping("/dry-run")
        @RateLimited(name = "dry-run", rate = "1/s")
        public Mono<String> dryRun() {
            return Mono.just("42");
        }

        @GetMapping("/free")
        public Mono<String> free() {
            return Mono.just("42");
        }

        @GetMapping("/by-url/{id}/info")
        public Mono<String> url() {
            return Mono.just("42");
        }

        @GetMapping("/by-url/{id}")
        @RateLimited(name = "quotes", capacity = 2, rate = "2/5s")
        public Mono<String> both() {
            return Mono.just("42");
        }
    }
}
