package io.ratelimit.web;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.annotation.RateLimited;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.reactive.DispatcherHandler;
import org.springframework.web.server.ServerWebExchange;
import reactor.core.publisher.Mono;

/** A handler passes a request on to another handler, as a {@code forward:} of Spring Cloud Gateway does: it is one dispatch. */
class ReactiveForwardTests {

    @RegisterExtension
    static final RunningApplication application = new RunningApplication(
            WebApplicationType.REACTIVE,
            Application.class,
            "ratelimit.limits.rule.rate=100/d",
            "ratelimit.http[0].path=/**",
            "ratelimit.http[0].limit=rule");

    @Test
    void ruleIsChargedOnceAndEachMethodThatIsCalled() {
        assertThat(application.get("forward").status()).isEqualTo(200);
        assertThat(used("rule")).isEqualTo(1);
        assertThat(used("method")).isEqualTo(2);
    }

    private static long used(String limit) {
        return 100 - application.limiter(limit).allCallers().peek().remaining();
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Application {

        @Bean
        Handlers handlers(DispatcherHandler dispatcher) {
            return new Handlers(dispatcher);
        }
    }

    @RestController
    static class Handlers {

        private final DispatcherHandler dispatcher;

        Handlers(DispatcherHandler dispatcher) {
            this.dispatcher = dispatcher;
        }

        @RateLimited(name = "method", rate = "100/d")
        @GetMapping("/forward")
        public Mono<Void> forward(ServerWebExchange exchange) {
            return dispatcher.handle(exchange.mutate()
                    .request(request -> request.path("/forwarded"))
                    .build());
        }

        @RateLimited(name = "method", rate = "100/d")
        @GetMapping("/forwarded")
        public Mono<String> forwarded() {
            return Mono.just("done");
        }
    }
}
