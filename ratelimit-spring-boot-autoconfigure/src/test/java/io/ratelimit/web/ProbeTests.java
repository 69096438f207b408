package io.ratelimit.web;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.testing.LongRunning;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

/** An orchestrator restarts an instance whose probes are rejected. */
@LongRunning
class ProbeTests {

    private static void with(WebApplicationType stack, String rule, Consumer<RawHttp> test) {
        with(stack, rule, test, "/any");
    }

    private static void with(
            WebApplicationType stack, String rule, Consumer<RawHttp> test, String first, String... properties) {
        String[] all = Stream.concat(
                        Stream.of(
                                "ratelimit.limits.all.rate=1/h",
                                "ratelimit.http[0].path=" + rule,
                                "ratelimit.http[0].limit=all",
                                "management.endpoint.health.probes.enabled=true"),
                        Stream.of(properties))
                .toArray(String[]::new);
        try (RunningApplication application = new RunningApplication(stack, Application.class, all).start()) {
            RawHttp http = application.http();
            assertThat(http.send("GET " + first).status())
                    .as("uses up the limit, if the rule includes it")
                    .isEqualTo(200);
            test.accept(http);
        }
    }

    private static Stream<Integer> statuses(RawHttp http, String... paths) {
        return Stream.of(paths).map(path -> http.send("GET " + path).status());
    }

    @ParameterizedTest
    @EnumSource(names = {"SERVLET", "REACTIVE"})
    void ruleForAllPathsLeavesProbesAlone(WebApplicationType stack) {
        with(stack, "/**", http -> {
            assertThat(statuses(http, "/actuator/health", "/actuator/health/liveness", "/actuator/health/readiness"))
                    .containsOnly(200);
            assertThat(statuses(http, "/any", "/actuator", "/actuator/healthy")).containsOnly(429);
        });
    }

    @ParameterizedTest
    @EnumSource(names = {"SERVLET", "REACTIVE"})
    void probesAreWhereTheApplicationPutsThem(WebApplicationType stack) {
        with(
                stack,
                "/{*path}",
                http -> {
                    assertThat(statuses(
                                    http, "/manage/alive", "/manage/alive/liveness", "/livez", "/readyz", "/healthz"))
                            .containsOnly(200);
                    assertThat(statuses(http, "/actuator/health")).containsOnly(429);
                },
                "/any",
                "management.endpoints.web.base-path=/manage",
                "management.endpoints.web.path-mapping.health=alive",
                "management.endpoint.health.probes.add-additional-paths=true",
                "management.endpoint.health.group.own.include=ping",
                "management.endpoint.health.group.own.additional-path=server:healthz");
    }

    @ParameterizedTest
    @EnumSource(names = {"SERVLET", "REACTIVE"})
    void ruleThatNamesProbesLimitsThem(WebApplicationType stack) {
        with(
                stack,
                "/actuator/health/**",
                http -> assertThat(statuses(http, "/actuator/health", "/actuator/health/liveness"))
                        .containsExactly(200, 429));
    }

    /** No request is charged for both. */
    @ParameterizedTest
    @EnumSource(names = {"SERVLET", "REACTIVE"})
    void ruleForProbesCanHaveAnotherOrderThanTheRuleForAllPaths(WebApplicationType stack) {
        with(
                stack,
                "/**",
                http -> assertThat(statuses(http, "/actuator/health/liveness", "/any"))
                        .containsOnly(429),
                "/any",
                "ratelimit.http[1].path=/actuator/health/**",
                "ratelimit.http[1].limit=all",
                "ratelimit.http[1].order=after-security");
    }

    /** The container serves another path than the text shows. */
    @ParameterizedTest
    @EnumSource(names = {"SERVLET", "REACTIVE"})
    void pathThatOnlyBeginsLikeAProbeIsLimited(WebApplicationType stack) {
        with(
                stack,
                "/**",
                http -> assertThat(statuses(http, "/actuator/health/../../any")).containsOnly(429));
    }

    @Test
    void probesAreBelowTheServlet() {
        with(
                WebApplicationType.SERVLET,
                "/**",
                http -> {
                    assertThat(statuses(http, "/mvc/actuator/health", "/mvc/actuator/health/liveness"))
                            .containsOnly(200);
                    assertThat(statuses(http, "/mvc/actuator", "/mvc/any")).containsOnly(429);
                },
                "/mvc/any",
                "spring.mvc.servlet.path=/mvc");
    }

    @ParameterizedTest
    @EnumSource(names = {"SERVLET", "REACTIVE"})
    void pathAtWhichNoHealthIsServedIsLimited(WebApplicationType stack) {
        with(
                stack,
                "/**",
                http -> assertThat(statuses(http, "/actuator/health")).containsOnly(429),
                "/any",
                "management.endpoints.web.exposure.exclude=health");
    }

    @RestController
    static class Handlers {

        @GetMapping("/any")
        String any() {
            return "any";
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    @Import(Handlers.class)
    static class Application {}
}
