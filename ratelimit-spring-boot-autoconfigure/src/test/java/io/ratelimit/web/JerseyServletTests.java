package io.ratelimit.web;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.Algorithm;
import io.ratelimit.annotation.RateLimited;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.core.Context;
import jakarta.ws.rs.core.UriInfo;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.glassfish.jersey.server.ResourceConfig;
import org.glassfish.jersey.servlet.ServletContainer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.web.servlet.ServletRegistrationBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** Jersey beside Spring MVC, in Tomcat. */
class JerseyServletTests {

    @RegisterExtension
    static final RunningApplication application = new RunningApplication(
            WebApplicationType.SERVLET,
            Application.class,
            "ratelimit.http[0].path=/resources/ruled",
            "ratelimit.http[0].limit=ruled",
            "ratelimit.limits.ruled.rate=1/h");

    @Test
    void responsesHaveTheFieldsOfAllLimits() {
        assertThat(application.get("resources/quote").text())
                .startsWith("HTTP/1.1 200")
                .containsOnlyOnce("RateLimit: \"by-address\";r=0;t=3600, \"all\";r=9;t=360\r\n");
        assertThat(application.get("resources/quote").text())
                .startsWith("HTTP/1.1 429")
                .containsOnlyOnce("RateLimit: \"by-address\";r=0;t=")
                .containsOnlyOnce("Retry-After: ")
                .containsOnlyOnce("Content-Type: application/problem+json\r\n")
                .contains("\"instance\":\"/resources/quote\"", "\"violated-policies\":[\"by-address\"]");
    }

    @Test
    void ruleOfAUrlIsAnsweredBySpringMvc() {
        assertThat(application.get("resources/ruled").text())
                .startsWith("HTTP/1.1 200")
                .contains("RateLimit: \"ruled\";r=0;t=3600\r\n");
        assertThat(application.get("resources/ruled").text())
                .startsWith("HTTP/1.1 429")
                .contains("\"violated-policies\":[\"ruled\"]");
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
    @EnableAutoConfiguration
    static class Application {

        @Bean
        Handled handled() {
            return new Handled();
        }

        @Bean
        Quotes quotes(Handled handled) {
            return new Quotes(handled);
        }

        @Bean
        ResourceConfig resources(Quotes quotes, Handled handled) {
            return new ResourceConfig().register(quotes).register(handled);
        }

        @Bean
        ServletRegistrationBean<ServletContainer> jersey(ResourceConfig resources) {
            return new ServletRegistrationBean<>(new ServletContainer(resources), "/resources/*");
        }
    }

    /** Jersey injects into no field of the resource, but into those of its proxy. */
    public static class Handled {

        @Context
        private UriInfo uri;
    }

    @Path("/")
    public static class Quotes {

        private final Handled handled;

        Quotes(Handled handled) {
            this.handled = handled;
        }

        @GET
        @Path("quote")
        @RateLimited(name = "by-address", rate = "1/h", keyExpression = "clientIp")
        @RateLimited(name = "all", rate = "10/h")
        public String quote() {
            return "42";
        }

        @GET
        @Path("spaced")
        @RateLimited(name = "spaced", algorithm = Algorithm.LEAKY_BUCKET, capacity = 2, rate = "10/s", maxWait = "30s")
        public CompletionStage<String> spaced() {
            return CompletableFuture.completedFuture(handled.uri.getPath());
        }

        @GET
        @Path("ruled")
        public String ruled() {
            return "42";
        }
    }
}
