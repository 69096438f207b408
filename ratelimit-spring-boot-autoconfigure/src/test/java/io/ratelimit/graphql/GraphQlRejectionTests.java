package io.ratelimit.graphql;

import static org.assertj.core.api.Assertions.assertThat;

import graphql.ExecutionResult;
import graphql.GraphQLError;
import graphql.GraphqlErrorBuilder;
import io.ratelimit.RateLimitExceededException;
import io.ratelimit.RateLimitRefusedException;
import io.ratelimit.RateLimitStoreException;
import io.ratelimit.RateLimiterRegistry;
import io.ratelimit.annotation.RateLimited;
import io.ratelimit.autoconfigure.LimitedContexts;
import io.ratelimit.autoconfigure.StoppedClock;
import io.ratelimit.autoconfigure.web.RateLimitGraphQlAutoConfiguration;
import io.ratelimit.testing.LogRecorder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.reactivestreams.Publisher;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.core.io.ByteArrayResource;
import org.springframework.graphql.data.method.annotation.Argument;
import org.springframework.graphql.data.method.annotation.GraphQlExceptionHandler;
import org.springframework.graphql.data.method.annotation.QueryMapping;
import org.springframework.graphql.data.method.annotation.SubscriptionMapping;
import org.springframework.graphql.data.method.annotation.support.AnnotatedControllerConfigurer;
import org.springframework.graphql.execution.DataFetcherExceptionResolver;
import org.springframework.graphql.execution.GraphQlSource;
import org.springframework.graphql.execution.SubscriptionExceptionResolver;
import org.springframework.graphql.execution.SubscriptionPublisherException;
import org.springframework.stereotype.Controller;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Fields of GraphQL, by Spring's engine, as Spring Boot assembles it. */
@ExtendWith(OutputCaptureExtension.class)
class GraphQlRejectionTests {

    private static final String SCHEMA = """
            type Query { quote: String, future: String, mono: String, refused: String, byUser(user: String): String, defect: String,
                later: String, failsLater: String, broken: String }
            type Subscription { quotes: String }
            """;

    @ParameterizedTest
    @ValueSource(strings = {"quote", "future", "mono"})
    void rejectedFieldIsAnErrorOfItsOwn(String field, CapturedOutput output) {
        with(Quotes.class, context -> {
            assertThat(errors(context, "{ " + field + " }")).isEmpty();
            context.getBean(StoppedClock.class).advance(Duration.ofMillis(500));
            int before = output.getAll().length();
            assertThat(errors(context, "{ " + field + " }"))
                    .singleElement()
                    .satisfies(error -> assertThat(error)
                            .containsEntry("message", "Rate limit '" + field + "' exceeded")
                            .containsEntry("path", List.of(field))
                            .containsEntry("extensions", Map.of("classification", "RATE_LIMITED", "retryAfter", 60L)));
            assertThat(output.getAll().substring(before)).doesNotContain("WARN", "ERROR");
        });
    }

    @Test
    void callableEndsTheCallWhenItHasRun() {
        with(Quotes.class, context -> {
            assertThat(errors(context, "{ later }")).isEmpty();
            assertThat(remaining(context, "later")).isEqualTo(8);
        });
    }

    @Test
    void failureOfCallableIsRefunded() {
        with(Quotes.class, context -> {
            assertThat(errors(context, "{ failsLater }")).hasSize(1);
            assertThat(remaining(context, "fails-later")).isEqualTo(10);
        });
    }

    private static long remaining(ApplicationContext context, String limit) {
        return context.getBean(RateLimiterRegistry.class)
                .get(limit)
                .allCallers()
                .peek()
                .remaining();
    }

    @Test
    void rejectedSubscriptionEndsWithTheError() {
        with(Quotes.class, context -> {
            assertThat(subscribe(context).blockLast().toSpecification()).containsKey("data");
            assertThat(subscribe(context).blockLast().toSpecification().get("errors"))
                    .asString()
                    .contains("classification=RATE_LIMITED", "retryAfter=60");
        });
    }

    private static Flux<ExecutionResult> subscribe(ApplicationContext context) {
        Publisher<ExecutionResult> results =
                source(context).graphQl().execute("subscription { quotes }").getData();
        return Flux.from(results)
                .onErrorResume(failure -> Mono.fromSupplier(() -> ExecutionResult.newExecutionResult()
                        .errors(((SubscriptionPublisherException) failure).getErrors())
                        .build()));
    }

    @Test
    void refusedFieldIsUnavailable() {
        with(
                Quotes.class,
                context -> assertThat(errors(context, "{ refused }"))
                        .singleElement()
                        .satisfies(error -> assertThat(error.get("extensions"))
                                .isEqualTo(Map.of("classification", "UNAVAILABLE"))));
    }

    @Test
    void fieldWithoutItsKeyIsABadRequestAndALine() {
        try (LogRecorder log = new LogRecorder("io.ratelimit.web")) {
            with(
                    Quotes.class,
                    context -> assertThat(errors(context, "{ byUser }"))
                            .singleElement()
                            .satisfies(error -> assertThat(error.get("extensions"))
                                    .isEqualTo(Map.of("classification", "BAD_REQUEST"))));
            assertThat(log.text())
                    .contains("WARNING Request without a key for rate limit 'by-user'", "; answering an error.");
        }
    }

    @Test
    void failingExpressionIsAnInternalErrorAndALine(CapturedOutput output) {
        try (LogRecorder log = new LogRecorder("io.ratelimit.web")) {
            with(
                    Quotes.class,
                    context -> assertThat(errors(context, "{ broken }"))
                            .singleElement()
                            .satisfies(error -> assertThat(error)
                                    .containsEntry("message", "The server cannot evaluate a rate limit of the request")
                                    .containsEntry("extensions", Map.of("classification", "INTERNAL_ERROR"))));
            assertThat(log.text()).contains("Rate limit of a request not evaluated (", "; answering an error.");
        }
        assertThat(output).doesNotContain("\tat ");
    }

    @Test
    void otherFailuresStayInternalErrors() {
        with(
                Quotes.class,
                context -> assertThat(errors(context, "{ defect }"))
                        .singleElement()
                        .satisfies(error -> assertThat(error.get("extensions"))
                                .isEqualTo(Map.of("classification", "INTERNAL_ERROR"))));
    }

    @Test
    void handlerOfTheApplicationComesBefore() {
        with(OwnAnswers.class, context -> {
            errors(context, "{ quote }");
            assertThat(errors(context, "{ quote }"))
                    .singleElement()
                    .satisfies(error -> assertThat(error).containsEntry("message", "slow down"));
        });
    }

    private static void with(Class<?> controller, Consumer<ApplicationContext> test) {
        LimitedContexts.inMemory()
                .withConfiguration(AutoConfigurations.of(RateLimitGraphQlAutoConfiguration.class, Controllers.class))
                .withBean("quotes", controller)
                .run(test::accept);
    }

    @SuppressWarnings("unchecked")
    private static List<Map<String, Object>> errors(ApplicationContext context, String query) {
        return (List<Map<String, Object>>)
                source(context).graphQl().execute(query).toSpecification().getOrDefault("errors", List.of());
    }

    private static GraphQlSource source(ApplicationContext context) {
        return GraphQlSource.schemaResourceBuilder()
                .schemaResources(new ByteArrayResource(SCHEMA.getBytes(StandardCharsets.UTF_8)))
                .configureRuntimeWiring(context.getBean(AnnotatedControllerConfigurer.class))
                .exceptionResolvers(context.getBeanProvider(DataFetcherExceptionResolver.class)
                        .orderedStream()
                        .toList())
                .subscriptionExceptionResolvers(context.getBeanProvider(SubscriptionExceptionResolver.class)
                        .orderedStream()
                        .toList())
                .build();
    }

    @Test
    void handlersOfTheApplicationAreAskedFirst() {
        with(
                Quotes.class,
                context -> assertThat(context.getBeanProvider(DataFetcherExceptionResolver.class)
                                .orderedStream())
                        .last()
                        .isInstanceOf(GraphQlRejectionResolver.class));
    }

    /** As that of Spring Boot. */
    @AutoConfiguration
    static class Controllers {

        @Bean
        AnnotatedControllerConfigurer controllerConfigurer() {
            AnnotatedControllerConfigurer configurer = new AnnotatedControllerConfigurer();
            configurer.setExecutor(Runnable::run);
            return configurer;
        }

        @Bean
        DataFetcherExceptionResolver controllerExceptionResolver(AnnotatedControllerConfigurer controllers) {
            return controllers.getExceptionResolver();
        }
    }

    @Controller
    static class Quotes {

        @QueryMapping
        @RateLimited(name = "quote", rate = "1/m")
        public String quote() {
            return "42";
        }

        @QueryMapping
        @RateLimited(name = "future", rate = "1/m")
        public CompletableFuture<String> future() {
            return CompletableFuture.completedFuture("42");
        }

        @QueryMapping
        @RateLimited(name = "mono", rate = "1/m")
        public Mono<String> mono() {
            return Mono.just("42");
        }

        @SubscriptionMapping
        @RateLimited(name = "quotes", rate = "1/m")
        public Flux<String> quotes() {
            return Flux.just("42");
        }

        @QueryMapping
        public String refused() {
            throw new RateLimitRefusedException(
                    new RateLimitStoreException(RateLimitStoreException.Reason.TIMEOUT, "no answer", null));
        }

        @QueryMapping
        @RateLimited(name = "by-user", rate = "1/m", keyExpression = "#user")
        public String byUser(@Argument String user) {
            return user;
        }

        @QueryMapping
        @RateLimited(name = "later", rate = "10/m", permits = "5", permitsAfter = "#result.length()")
        public Callable<String> later() {
            return () -> "42";
        }

        @QueryMapping
        @RateLimited(name = "fails-later", rate = "10/m", refundOn = IllegalStateException.class)
        public Callable<String> failsLater() {
            return () -> {
                throw new IllegalStateException("a defect");
            };
        }

        @QueryMapping
        @RateLimited(name = "broken", rate = "1/m", keyExpression = "@quotes.key()")
        public String broken() {
            return "42";
        }

        public String key() {
            throw new IllegalStateException("a defect");
        }

        @QueryMapping
        public String defect() {
            throw new IllegalStateException("a defect");
        }
    }

    @Controller
    static class OwnAnswers extends Quotes {

        @GraphQlExceptionHandler
        GraphQLError rejected(RateLimitExceededException rejection) {
            return GraphqlErrorBuilder.newError().message("slow down").build();
        }
    }
}
