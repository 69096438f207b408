package io.ratelimit.web;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.Algorithm;
import io.ratelimit.RateLimitExceededException;
import io.ratelimit.annotation.RateLimited;
import io.ratelimit.autoconfigure.web.RateLimitServletAutoConfiguration;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.core.Context;
import jakarta.ws.rs.core.Response;
import jakarta.ws.rs.core.UriInfo;
import jakarta.ws.rs.ext.ExceptionMapper;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.glassfish.jersey.server.ResourceConfig;
import org.glassfish.jersey.servlet.ServletContainer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.web.servlet.ServletRegistrationBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** Jersey in Tomcat as in an application without Spring MVC: there is no filter of the starter. */
class JerseyAloneTests {

    @RegisterExtension
    static final RunningApplication application = new RunningApplication(WebApplicationType.SERVLET, Application.class);

    @ParameterizedTest
    @ValueSource(strings = {"quote", "later"})
    void responsesHaveTheFieldsOfAllLimits(String path) {
        assertThat(application.get("resources/" + path).text())
                .startsWith("HTTP/1.1 200")
                .containsOnlyOnce(
                        "RateLimit-Policy: \"" + path + "\";q=1;w=3600, \"all-of-" + path + "\";q=10;w=3600\r\n")
                .containsOnlyOnce("RateLimit: \"" + path + "\";r=0;t=3600, \"all-of-" + path + "\";r=9;t=360\r\n")
                .doesNotContain("Retry-After");
        assertThat(application.get("resources/" + path).text())
                .startsWith("HTTP/1.1 429")
                .containsOnlyOnce("RateLimit: \"" + path + "\";r=0;t=")
                .containsOnlyOnce("\"all-of-" + path + "\";r=9;t=360\r\n")
                .containsOnlyOnce("Retry-After: ");
    }

    @Test
    void expressionsReadTheRequest() {
        RawHttp http = application.http();
        assertThat(http.send("GET /resources/tenant", "X-Tenant: a").status()).isEqualTo(200);
        assertThat(http.send("GET /resources/tenant", "X-Tenant: b").status()).isEqualTo(200);
        assertThat(http.send("GET /resources/tenant", "X-Tenant: a").status()).isEqualTo(429);
        assertThat(http.send("GET /resources/tenant").status()).isEqualTo(400);
        assertThat(http.send("GET /resources/user").status()).isEqualTo(400);
    }

    @Test
    void rejectionOfAMapperOfTheApplicationHasTheFieldsToo() {
        assertThat(application.get("resources/own").status()).isEqualTo(200);
        assertThat(application.get("resources/own").text())
                .startsWith("HTTP/1.1 429")
                .containsOnlyOnce("Retry-After: ")
                .containsOnlyOnce("RateLimit: \"own\";r=0;t=")
                .endsWith("slow down");
    }

    @Test
    void callOnAThreadOfItsOwnIsOfNoRequest() {
        assertThat(application.get("resources/elsewhere").text())
                .startsWith("HTTP/1.1 200")
                .doesNotContain("RateLimit");
        assertThat(application.limiter("elsewhere").allCallers().peek().remaining())
                .isEqualTo(9);
    }

    /** The second has to wait, and the method then runs on another thread. */
    @Test
    void requestGoesAlongToTheMethodThatWaits() {
        assertThat(application.get("resources/spaced").text())
                .startsWith("HTTP/1.1 200")
                .endsWith("spaced");
        assertThat(application.get("resources/spaced").text())
                .startsWith("HTTP/1.1 200")
                .endsWith("spaced");
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration(exclude = RateLimitServletAutoConfiguration.class)
    static class Application {

        @Bean
        Handled handled() {
            return new Handled();
        }

        @Bean
        Quotes quotes(Service service, Handled handled) {
            return new Quotes(service, handled);
        }

        @Bean
        Service service() {
            return new Service();
        }

        @Bean
        ResourceConfig resources(Quotes quotes, Handled handled) {
            return new ResourceConfig().register(quotes).register(handled).register(OwnRejections.class);
        }

        @Bean
        ServletRegistrationBean<ServletContainer> jersey(ResourceConfig resources) {
            return new ServletRegistrationBean<>(new ServletContainer(resources), "/resources/*");
        }
    }

    static class Service {

        @RateLimited(name = "elsewhere", rate = "10/h")
        public void call() {}

        @RateLimited(name = "own", rate = "1/h")
        public String quote() {
            return "42";
        }
    }

    public static class OwnRejections implements ExceptionMapper<OwnRejection> {

        @Override
        public Response toResponse(OwnRejection rejection) {
            return Response.status(429).entity("slow down").build();
        }
    }

    static class OwnRejection extends IllegalStateException {

        private static final long serialVersionUID = 1L;
    }

    /** Jersey injects into no field of the resource, but into those of its proxy. */
    public static class Handled {

        @Context
        private UriInfo uri;
    }

    @Path("/")
    public static class Quotes {

        private final Service service;

        private final Handled handled;

        Quotes(Service service, Handled handled) {
            this.service = service;
            this.handled = handled;
        }

        @GET
        @Path("quote")
        @RateLimited(name = "quote", rate = "1/h", keyExpression = "clientIp")
        @RateLimited(name = "all-of-quote", rate = "10/h")
        public String quote() {
            return "42";
        }

        @GET
        @Path("later")
        @RateLimited(name = "later", rate = "1/h", keyExpression = "clientIp")
        @RateLimited(name = "all-of-later", rate = "10/h")
        public CompletionStage<String> later() {
            return CompletableFuture.supplyAsync(() -> "42");
        }

        @GET
        @Path("spaced")
        @RateLimited(name = "spaced", algorithm = Algorithm.LEAKY_BUCKET, capacity = 2, rate = "10/s", maxWait = "30s")
        public CompletionStage<String> spaced() {
            return CompletableFuture.completedFuture(handled.uri.getPath());
        }

        @GET
        @Path("tenant")
        @RateLimited(name = "tenants", rate = "1/h", keyExpression = "header('X-Tenant')")
        public String tenant() {
            return "42";
        }

        @GET
        @Path("user")
        @RateLimited(name = "users", rate = "1/h", keyExpression = "principal")
        public String user() {
            return "42";
        }

        @GET
        @Path("own")
        public String own() {
            try {
                return service.quote();
            } catch (RateLimitExceededException rejection) {
                throw new OwnRejection();
            }
        }

        @GET
        @Path("elsewhere")
        public CompletionStage<String> elsewhere() {
            return CompletableFuture.supplyAsync(() -> {
                service.call();
                return "42";
            });
        }
    }
}
