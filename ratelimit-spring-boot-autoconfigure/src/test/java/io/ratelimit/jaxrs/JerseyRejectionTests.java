package io.ratelimit.jaxrs;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.OutboundRateLimitExceededException;
import io.ratelimit.RateLimitDecision;
import io.ratelimit.RateLimitExceededException;
import io.ratelimit.RateLimitException;
import io.ratelimit.RateLimitRefusedException;
import io.ratelimit.RateLimitStoreException;
import io.ratelimit.annotation.RateLimited;
import io.ratelimit.autoconfigure.LimitedContexts;
import io.ratelimit.autoconfigure.web.RateLimitJerseyAutoConfiguration;
import io.ratelimit.testing.LogRecorder;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.QueryParam;
import jakarta.ws.rs.WebApplicationException;
import jakarta.ws.rs.core.Response;
import jakarta.ws.rs.ext.ExceptionMapper;
import java.net.URI;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.function.Consumer;
import org.glassfish.jersey.internal.MapPropertiesDelegate;
import org.glassfish.jersey.server.ApplicationHandler;
import org.glassfish.jersey.server.ContainerRequest;
import org.glassfish.jersey.server.ContainerResponse;
import org.glassfish.jersey.server.ResourceConfig;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.json.JsonParserFactory;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

/** Resources of JAX-RS without Spring MVC, by Jersey without a server. */
@ExtendWith(OutputCaptureExtension.class)
class JerseyRejectionTests {

    @ParameterizedTest
    @ValueSource(strings = {"quote", "later"})
    void rejectionIsTheProblemOfSpringMvc(String path, CapturedOutput output) {
        with(new ResourceConfig(), jersey -> {
            ContainerResponse allowed = get(jersey, path);
            assertThat(allowed.getStatus()).isEqualTo(200);
            assertThat(allowed.getEntity()).isEqualTo("42");
            int before = output.getAll().length();
            ContainerResponse rejection = get(jersey, path);
            assertThat(rejection.getStatus()).isEqualTo(429);
            assertThat(rejection.getMediaType()).hasToString("application/problem+json");
            assertThat(rejection.getStringHeaders())
                    .containsEntry("Retry-After", List.of("60"))
                    .containsEntry("RateLimit-Policy", List.of("\"" + path + "\";q=1;w=60"))
                    .containsEntry("RateLimit", List.of("\"" + path + "\";r=0;t=60"));
            assertThat(problem(rejection))
                    .isEqualTo(Map.of(
                            "type",
                            "https://iana.org/assignments/http-problem-types#quota-exceeded",
                            "title",
                            "Request cannot be satisfied as assigned quota has been exceeded",
                            "status",
                            429,
                            "detail",
                            "Rate limit '" + path + "' exceeded",
                            "instance",
                            "/" + path,
                            "violated-policies",
                            List.of(path)));
            assertThat(output.getAll().substring(before)).doesNotContain("WARN", "ERROR");
        });
    }

    @Test
    void limitOfACallToAnotherApplicationIsNoQuotaOfTheCaller() {
        with(new ResourceConfig(), jersey -> {
            ContainerResponse answer = get(jersey, "outbound");
            assertThat(answer.getStatus()).isEqualTo(503);
            assertThat(answer.getStringHeaders())
                    .containsEntry("Retry-After", List.of("3"))
                    .doesNotContainKey("RateLimit");
            assertThat(problem(answer))
                    .containsEntry("detail", "Another application must not be called at present")
                    .doesNotContainKey("violated-policies");
        });
    }

    @Test
    void refusalIsAServiceThatIsUnavailable() {
        with(new ResourceConfig(), jersey -> {
            ContainerResponse answer = get(jersey, "refused");
            assertThat(answer.getStatus()).isEqualTo(503);
            assertThat(problem(answer))
                    .containsEntry(
                            "type", "https://iana.org/assignments/http-problem-types#temporary-reduced-capacity");
        });
    }

    @Test
    void requestWithoutItsKeyIsABadRequestAndALine() {
        try (LogRecorder log = new LogRecorder("io.ratelimit.web")) {
            with(new ResourceConfig(), jersey -> {
                ContainerResponse answer = get(jersey, "by-user");
                assertThat(answer.getStatus()).isEqualTo(400);
                assertThat(problem(answer))
                        .containsEntry(
                                "detail", "The request does not contain the key that rate limit 'by-user' requires");
            });
            assertThat(log.text()).contains("Request without a key for rate limit 'by-user'");
        }
    }

    @Test
    void failingExpressionIsAnErrorOfTheServerAndALine(CapturedOutput output) {
        with(new ResourceConfig(), jersey -> {
            ContainerResponse answer = get(jersey, "broken");
            assertThat(answer.getStatus()).isEqualTo(500);
            assertThat(problem(answer))
                    .containsEntry("detail", "The server cannot evaluate a rate limit of the request");
        });
        assertThat(output).doesNotContain("\tat ");
    }

    @Test
    void rejectionMayBeTheCause() {
        with(
                new ResourceConfig(),
                jersey -> assertThat(get(jersey, "joined").getStatus()).isEqualTo(429));
    }

    @Test
    void responseOfTheResourceStays() {
        with(
                new ResourceConfig(),
                jersey -> assertThat(get(jersey, "own").getStatus()).isEqualTo(418));
    }

    @ParameterizedTest
    @ValueSource(classes = {EveryThrowable.class, EveryException.class, EveryRuntimeException.class})
    void mapperOfTheApplicationForEveryExceptionGetsNoRejections(Class<?> mapper) {
        with(new ResourceConfig().register(mapper), jersey -> {
            get(jersey, "quote");
            assertThat(get(jersey, "quote").getStatus()).isEqualTo(429);
            assertThat(get(jersey, "store").getEntity()).isEqualTo("an own answer");
        });
    }

    @ParameterizedTest
    @ValueSource(classes = {RejectionsAlone.class, SameException.class})
    void mapperOfTheApplicationForRejectionsComesFirst(Class<?> mapper) {
        with(new ResourceConfig().register(mapper), jersey -> {
            get(jersey, "quote");
            assertThat(get(jersey, "quote").getEntity()).isEqualTo("an own answer");
        });
    }

    @Test
    void disabledLimitsRegisterNothing() {
        LimitedContexts.inMemory()
                .withConfiguration(AutoConfigurations.of(RateLimitJerseyAutoConfiguration.class))
                .withBean(ResourceConfig.class, ResourceConfig::new)
                .withPropertyValues("ratelimit.enabled=false")
                .run(context -> assertThat(context.getBean(ResourceConfig.class).getInstances())
                        .isEmpty());
    }

    private static void with(ResourceConfig resources, Consumer<ApplicationHandler> test) {
        LimitedContexts.inMemory()
                .withConfiguration(AutoConfigurations.of(RateLimitJerseyAutoConfiguration.class))
                .withBean(Quotes.class)
                .withBean(ResourceConfig.class, () -> resources)
                .run(context -> test.accept(new ApplicationHandler(resources.register(context.getBean(Quotes.class)))));
    }

    private static ContainerResponse get(ApplicationHandler jersey, String path) {
        URI base = URI.create("http://localhost/");
        try {
            return jersey.apply(new ContainerRequest(
                            base,
                            base.resolve(path),
                            "GET",
                            null,
                            new MapPropertiesDelegate(),
                            jersey.getConfiguration()))
                    .get();
        } catch (InterruptedException | ExecutionException ex) {
            throw new IllegalStateException(ex);
        }
    }

    private static Map<String, Object> problem(ContainerResponse response) {
        return JsonParserFactory.getJsonParser().parseMap((String) response.getEntity());
    }

    @Path("/")
    public static class Quotes {

        @GET
        @Path("quote")
        @RateLimited(name = "quote", rate = "1/m")
        public String quote() {
            return "42";
        }

        @GET
        @Path("later")
        @RateLimited(name = "later", rate = "1/m")
        public CompletionStage<String> later() {
            return CompletableFuture.completedFuture("42");
        }

        @GET
        @Path("joined")
        public String joined() {
            return CompletableFuture.failedFuture(
                            new RateLimitExceededException("quote", RateLimitDecision.ofMicros(1, 0, 0, 1, 1)))
                    .join()
                    .toString();
        }

        @GET
        @Path("own")
        public String own() {
            throw new WebApplicationException(
                    new RateLimitExceededException("quote", RateLimitDecision.ofMicros(1, 0, 0, 1, 1)), 418);
        }

        @GET
        @Path("outbound")
        public String outbound() {
            throw OutboundRateLimitExceededException.of(new RateLimitExceededException(
                    "partner", RateLimitDecision.ofMicros(1, 0, 0, 2_500_000, 2_500_000)));
        }

        @GET
        @Path("refused")
        public String refused() {
            throw new RateLimitRefusedException(
                    new RateLimitStoreException(RateLimitStoreException.Reason.TIMEOUT, "no answer", null));
        }

        /** No answer of the rate limiter. */
        @GET
        @Path("store")
        public String store() {
            throw new RateLimitStoreException(RateLimitStoreException.Reason.TIMEOUT, "no answer", null);
        }

        @GET
        @Path("by-user")
        @RateLimited(name = "by-user", rate = "1/m", keyExpression = "#user")
        public String byUser(@QueryParam("user") String user) {
            return user;
        }

        @GET
        @Path("broken")
        @RateLimited(name = "broken", rate = "1/m", keyExpression = "#root.target.key()")
        public String broken() {
            return "42";
        }

        public String key() {
            throw new IllegalStateException("a defect");
        }
    }

    private abstract static class OwnAnswer<T extends Throwable> implements ExceptionMapper<T> {

        @Override
        public Response toResponse(T failure) {
            return Response.status(418).entity("an own answer").build();
        }
    }

    public static class EveryThrowable extends OwnAnswer<Throwable> {}

    public static class EveryRuntimeException extends OwnAnswer<RuntimeException> {}

    public static class EveryException extends OwnAnswer<Exception> {}

    public static class RejectionsAlone extends OwnAnswer<RateLimitExceededException> {}

    public static class SameException extends OwnAnswer<RateLimitException> {}
}
