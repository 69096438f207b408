package io.ratelimit.web;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.annotation.RateLimited;
import io.ratelimit.testing.LongRunning;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;
import reactor.core.publisher.Mono;

/** A management server with a port of its own, which has a child context: URL rules are those of the application alone. */
@LongRunning
class ManagementServerTests {

    /** The tests have two servers for a reactive application. */
    private static final String TOMCAT =
            "org.springframework.boot.tomcat.autoconfigure.actuate.web.server.TomcatReactiveManagementContextAutoConfiguration,"
                    + "org.springframework.boot.tomcat.autoconfigure.reactive.TomcatReactiveWebServerAutoConfiguration";

    private final HttpClient client = HttpClient.newHttpClient();

    @ParameterizedTest
    @EnumSource(names = {"SERVLET", "REACTIVE"})
    void urlRulesLimitTheApplicationOnceAndTheManagementServerNot(WebApplicationType type)
            throws IOException, InterruptedException {
        try (ConfigurableApplicationContext context = start(type)) {
            for (int call = 0; call < 3; call++) {
                HttpAnswer answer = get(context, "local.management.port", "/actuator/ratelimits");
                answer.isAllowed(null);
                assertThat(answer.body()).contains("\"urls\"", "\"quotes\"");
            }

            get(context, "local.server.port", "/quote").isAllowed("\"urls\";r=1;t=1800, \"quotes\";r=4;t=720");
            get(context, "local.server.port", "/quote").isAllowed("\"urls\";r=0;t=3600, \"quotes\";r=3;t=1440");
            get(context, "local.server.port", "/quote").isRejected("\"urls\";r=0;t=1800", "1800", "urls");
            get(context, "local.management.port", "/actuator/health").isAllowed(null);
        }
    }

    private HttpAnswer get(ConfigurableApplicationContext context, String port, String path)
            throws IOException, InterruptedException {
        URI uri = URI.create("http://127.0.0.1:" + context.getEnvironment().getRequiredProperty(port) + path);
        return new HttpAnswer(client.send(HttpRequest.newBuilder(uri).build(), HttpResponse.BodyHandlers.ofString()));
    }

    private static ConfigurableApplicationContext start(WebApplicationType type) {
        return new SpringApplicationBuilder(Application.class)
                .web(type)
                .run(
                        "--spring.main.banner-mode=off",
                        "--spring.autoconfigure.exclude=" + (type == WebApplicationType.REACTIVE ? TOMCAT : ""),
                        "--server.address=127.0.0.1",
                        "--server.port=0",
                        "--management.server.address=127.0.0.1",
                        "--management.server.port=0",
                        "--management.endpoints.web.exposure.include=ratelimits,health",
                        "--ratelimit.store=in-memory",
                        "--ratelimit.limits.urls.rate=2/h",
                        "--ratelimit.limits.urls.algorithm=token-bucket",
                        "--ratelimit.http[0].path=/**",
                        "--ratelimit.http[0].limit=urls");
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    @Import(Quotes.class)
    static class Application {}

    @RestController
    static class Quotes {

        @GetMapping("/quote")
        @RateLimited(name = "quotes", rate = "5/h")
        public Mono<String> quote() {
            return Mono.just("Everything flows.");
        }
    }
}
