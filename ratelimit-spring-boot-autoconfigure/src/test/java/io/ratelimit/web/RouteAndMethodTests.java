package io.ratelimit.web;

import static io.ratelimit.web.function.RateLimitFilterFunctions.rateLimit;
import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.annotation.RateLimited;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.stereotype.Controller;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.servlet.function.RouterFunction;
import org.springframework.web.servlet.function.RouterFunctions;
import org.springframework.web.servlet.function.ServerResponse;

/** The filter of a route and a method that its handler calls count in the same limit. */
class RouteAndMethodTests {

    @RegisterExtension
    static final RunningApplication application = new RunningApplication(
            WebApplicationType.SERVLET,
            Application.class,
            "ratelimit.limits.direct.rate=100/d",
            "ratelimit.limits.forwarded.rate=100/d",
            "ratelimit.limits.before.rate=100/d",
            "ratelimit.limits.twice.rate=100/d");

    private static long used(String limit) {
        return 100 - application.limiter(limit).allCallers().peek().remaining();
    }

    @Test
    void eachIsChargedInTheFirstDispatch() {
        assertThat(application.get("direct").status()).isEqualTo(200);
        assertThat(used("direct")).isEqualTo(2);
    }

    /** Within one dispatch every call is charged. */
    @Test
    void eachIsChargedInADispatchByAForward() {
        assertThat(application.get("forward").status()).isEqualTo(200);
        assertThat(used("forwarded")).isEqualTo(2);
    }

    /** Only what a URL rule has charged is not charged again by the filter of a route. */
    @Test
    void eachIsChargedIfTheMethodIsCalledBeforeTheFilter() {
        assertThat(application.get("before").status()).isEqualTo(200);
        assertThat(used("before")).isEqualTo(2);
    }

    /** Within one dispatch every call is charged. */
    @Test
    void twoMethodsAreChargedInADispatchByAForward() {
        assertThat(application.get("forward-twice").status()).isEqualTo(200);
        assertThat(used("twice")).isEqualTo(2);
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Application {

        @Bean
        Service service() {
            return new Service();
        }

        @Bean
        Forwards forwards() {
            return new Forwards();
        }

        @Bean
        RouterFunction<ServerResponse> direct(Service service) {
            return RouterFunctions.route()
                    .GET("/direct", request -> {
                        service.direct();
                        return ServerResponse.ok().build();
                    })
                    .filter(rateLimit("direct"))
                    .build();
        }

        @Bean
        RouterFunction<ServerResponse> forwarded(Service service) {
            return RouterFunctions.route()
                    .GET("/forwarded", request -> {
                        service.forwarded();
                        return ServerResponse.ok().build();
                    })
                    .filter(rateLimit("forwarded"))
                    .build();
        }

        @Bean
        RouterFunction<ServerResponse> before(Service service) {
            return RouterFunctions.route()
                    .GET("/before", request -> ServerResponse.ok().build())
                    .filter((request, next) -> {
                        service.before();
                        return next.handle(request);
                    })
                    .filter(rateLimit("before"))
                    .build();
        }

        @Bean
        RouterFunction<ServerResponse> twice(Service service) {
            return RouterFunctions.route()
                    .GET("/twice", request -> {
                        service.twice();
                        service.twice();
                        return ServerResponse.ok().build();
                    })
                    .build();
        }
    }

    static class Service {

        @RateLimited("direct")
        public void direct() {}

        @RateLimited("forwarded")
        public void forwarded() {}

        @RateLimited("before")
        public void before() {}

        @RateLimited("twice")
        public void twice() {}
    }

    @Controller
    static class Forwards {

        @GetMapping("/forward")
        public String forward() {
            return "forward:/forwarded";
        }

        @GetMapping("/forward-twice")
        public String forwardTwice() {
            return "forward:/twice";
        }
    }
}
