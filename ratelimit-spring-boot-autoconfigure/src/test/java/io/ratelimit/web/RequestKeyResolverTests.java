package io.ratelimit.web;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.annotation.RateLimited;
import io.ratelimit.autoconfigure.RecordingListener;
import io.ratelimit.autoconfigure.StoppedClock;
import io.ratelimit.spi.RateLimitKeyResolver;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RestController;
import reactor.core.publisher.Mono;

/** Keys of requests that a bean determines, on both web stacks. */
@ExtendWith(OutputCaptureExtension.class)
class RequestKeyResolverTests {

    @ParameterizedTest
    @EnumSource(names = {"SERVLET", "REACTIVE"})
    void urlRulesAndHandlersReadTheRequest(WebApplicationType type, CapturedOutput output) {
        try (ConfigurableApplicationContext context = new SpringApplicationBuilder(Application.class)
                .web(type)
                .run(
                        "--server.port=0",
                        "--server.address=127.0.0.1",
                        "--ratelimit.store=in-memory",
                        "--ratelimit.limits.tenants.rate=1/h",
                        "--ratelimit.limits.tenants.key-resolver=path",
                        "--ratelimit.http[0].path=/tenants/{tenant}/**",
                        "--ratelimit.http[0].limit=tenants")) {
            RawHttp http =
                    new RawHttp(context.getEnvironment().getRequiredProperty("local.server.port", Integer.class));
            assertThat(http.send("GET /tenants/acme/quote", "X-Key: alice").status())
                    .isEqualTo(200);
            assertThat(http.send("GET /tenants/acme/quote", "X-Key: alice").status())
                    .isEqualTo(429);
            assertThat(http.send("GET /tenants/other/quote", "X-Key: alice").status())
                    .isEqualTo(429);
            assertThat(http.send("GET /tenants/third/quote", "X-Key: bob").status())
                    .isEqualTo(200);
            assertThat(context.getBean(RecordingListener.class).keys())
                    .containsExactly(
                            "null acme 127.0.0.1 null",
                            "alice",
                            "null acme 127.0.0.1 null",
                            "null other 127.0.0.1 null",
                            "alice",
                            "null third 127.0.0.1 null",
                            "bob");
            RawHttp.Answer missing = http.send("GET /tenants/fourth/quote");
            assertThat(missing.status()).isEqualTo(400);
            assertThat(output)
                    .contains("Rate limit 'tenants': TOKEN_BUCKET, capacity 1 at 1/h, key resolver path, on /tenants/")
                    .contains("Rate limit 'quotes': TOKEN_BUCKET, capacity 1 at 1/h, key resolver header, on ")
                    // Nothing tells whether a bean reads it.
                    .doesNotContain("reads the principal before");
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    @Import({StoppedClock.class, RecordingListener.class, Quotes.class})
    static class Application {

        @Bean
        RateLimitKeyResolver header() {
            return call -> call.header("X-Key");
        }

        @Bean
        RateLimitKeyResolver path() {
            return call ->
                    call.method() + " " + call.variable("tenant") + " " + call.clientIp() + " " + call.principal();
        }
    }

    @RestController
    static class Quotes {

        @RateLimited(name = "quotes", rate = "1/h", keyResolver = "header")
        @GetMapping("/tenants/{tenant}/quote")
        public Mono<String> quote(@PathVariable String tenant) {
            return Mono.just("42");
        }
    }
}
