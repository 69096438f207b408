package io.ratelimit.autoconfigure;

import static io.ratelimit.autoconfigure.LimitedContexts.analysis;
import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.actuate.RateLimitsEndpoint;
import io.ratelimit.annotation.RateLimited;
import io.ratelimit.autoconfigure.actuate.RateLimitsEndpointAutoConfiguration;
import io.ratelimit.autoconfigure.web.RateLimitReactiveAutoConfiguration;
import io.ratelimit.testing.LogRecorder;
import io.ratelimit.web.reactive.RequestLimitWebFilter;
import io.ratelimit.web.servlet.RequestLimitFilter;
import java.util.Arrays;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ReactiveWebApplicationContextRunner;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.core.env.MapPropertySource;
import org.springframework.web.servlet.DispatcherServlet;

/** A rule for URLs that cannot work stops the start-up. */
class RequestRuleMistakeTests {

    private final WebApplicationContextRunner servlet =
            LimitedContexts.inMemoryServlet().withPropertyValues("ratelimit.limits.login.rate=1/m");

    private final ReactiveWebApplicationContextRunner reactive = new ReactiveWebApplicationContextRunner()
            .withConfiguration(
                    AutoConfigurations.of(RateLimitAutoConfiguration.class, RateLimitReactiveAutoConfiguration.class))
            .withPropertyValues("ratelimit.store=in-memory", "ratelimit.limits.login.rate=1/m");

    private final LogRecorder log = new LogRecorder("io.ratelimit");

    @AfterEach
    void stopRecording() {
        log.close();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '"',
            value = {
                "path=/login limit=lgin | ratelimit.http[0].limit must be the name of a limit (was \"lgin\"). | Did you mean 'login'? To declare it, set ratelimit.limits.lgin.rate. Known limits: login.",
                "path=/login | ratelimit.http[0].limit must be set. | Give the rule the name of a limit.",
                "limit=login | ratelimit.http[0].path must be set. | Give the rule a path pattern",
                "path=/a/{b limit=login | ratelimit.http[0].path must be a path pattern (was \"/a/{b\"): | Write it as in @RequestMapping",
                "path=/a/**/b/** limit=login | ratelimit.http[0].path must be a path pattern (was \"/a/**/b/**\"): | Write it as in @RequestMapping",
            })
    void ruleThatCannotWorkStopsTheStartUp(String rule, String what, String fix) {
        String[] properties = Arrays.stream(rule.split(" "))
                .map(property -> "ratelimit.http[0]." + property)
                .toArray(String[]::new);
        servlet.withPropertyValues(properties).run(context -> assertMistake(context.getStartupFailure(), what, fix));
        reactive.withPropertyValues(properties).run(context -> assertMistake(context.getStartupFailure(), what, fix));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '"',
            value = {
                "/a,/b | it lists several paths. | Give each path a rule of its own.",
                "/a/{b:[a-z]{2,3}}, /b | it lists several paths. | Give each path a rule of its own.",
                "\" /a\" | it begins or ends with a blank. | Remove the blank.",
                "\"/a \" | it begins or ends with a blank. | Remove the blank.",
                "http://localhost/a | it names a host. | Write the path alone",
                "//localhost/a | it names a host. | Write the path alone",
                "/a?x=1 | it has a query string. | Write the path alone",
            })
    void pathThatIsAMistakeStopsTheStartUp(String path, String problem, String fix) {
        // Not as text of properties, which would be trimmed.
        Map<String, Object> properties = Map.of("ratelimit.http[0].path", path, "ratelimit.http[0].limit", "login");
        String what = "ratelimit.http[0].path must be a path pattern (was \"" + path + "\"): " + problem;
        servlet.withInitializer(context -> addFirst(context, properties))
                .run(context -> assertMistake(context.getStartupFailure(), what, fix));
        reactive.withInitializer(context -> addFirst(context, properties))
                .run(context -> assertMistake(context.getStartupFailure(), what, fix));
    }

    private static void addFirst(ConfigurableApplicationContext context, Map<String, Object> properties) {
        context.getEnvironment().getPropertySources().addFirst(new MapPropertySource("rule", properties));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "/a/{b:[a-z]{2,3}}",
                "/a,b",
                "/a b",
                "/file?.txt",
                "/{b:x,#}",
                "a",
                "/a#b",
                "/?.=",
                "/v?=1/a",
                "/?a=/b",
                "/at/{x},{y},/**",
                "/to/http://a"
            })
    void pathThatMayMatchIsAccepted(String path) {
        String[] properties = {"ratelimit.http[0].path=" + path, "ratelimit.http[0].limit=login"};
        servlet.withPropertyValues(properties)
                .run(context -> assertThat(context).hasNotFailed());
    }

    @Test
    void limitOfAMethodAndOfAUrlIsWarnedOf() {
        servlet.withBean(Login.class)
                .withPropertyValues("ratelimit.http[0].path=/login", "ratelimit.http[0].limit=login")
                .run(context -> assertThat(log.text())
                        .contains("Rate limit 'login' applies to methods and to URLs")
                        .contains("is charged twice"));
    }

    @Test
    void limitOfAUrlAloneIsNot() {
        servlet.withPropertyValues("ratelimit.http[0].path=/login", "ratelimit.http[0].limit=login")
                .run(context -> assertThat(log.text()).doesNotContain("is charged twice"));
    }

    static class Login {

        @RateLimited(name = "login", rate = "1/m")
        public void login() {}
    }

    private static void assertMistake(Throwable failure, String what, String fix) {
        FailureAnalysis analysis = analysis(failure);
        assertThat(analysis.getDescription()).contains("What: " + what);
        assertThat(analysis.getAction()).startsWith(fix);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '"',
            value = {
                "#user | names #user, but the path has no such variable, and a request no parameters of a method. | Its variables: #tenant.",
                "#tenat | names #tenat, but the path has no such variable, | Did you mean #tenant? Its variables: #tenant.",
                "#p0 | names #p0, but the path has no such variable, | Its variables: #tenant.",
                "#root.method.name | names 'method', which is not a property of a request. | There are clientIp",
                "#root.args[0] | names 'args', which is not a property of a request. | There are clientIp",
                "getTarget() | calls 'getTarget()', which is not a method of a request. | There are clientIp",
                "getMethod() | calls 'getMethod()', which is not a method of a request. | There are clientIp, principal and header('…'), and the path's variables, such as #tenant. The rule's methods and path say what requests it limits.",
                "method | names 'method', which is not a property of a request. | There are clientIp, principal and header('…'), and the path's variables, such as #tenant. The rule's methods and path say what requests it limits.",
                "@absent.name | names @absent, but there is no bean of that name. | Use the name of a bean. A test of a slice needs it by @Import.",
            })
    void expressionThatNeedsACallStopsTheStartUp(String expression, String what, String fix) {
        servlet.withPropertyValues(
                        "ratelimit.limits.login.key-expression=" + expression,
                        "ratelimit.http[0].path=/login",
                        "ratelimit.http[0].limit=other",
                        "ratelimit.limits.other.rate=1/s",
                        "ratelimit.http[1].path=/tenants/{tenant}/**",
                        "ratelimit.http[1].limit=login")
                .run(context -> {
                    FailureAnalysis analysis = analysis(context.getStartupFailure());
                    assertThat(analysis.getDescription())
                            .contains("Where: ratelimit.http[1]")
                            .contains("What: ratelimit.limits.login.key-expression \"" + expression + "\" " + what);
                    assertThat(analysis.getAction()).startsWith(fix);
                });
    }

    /** Spring Security is on the class path, and would authenticate the user later. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '"',
            value = {
                "key-expression | principal.name",
                "key-expression | 'user '.concat(principal.name)",
                "key-expression | {a: principal.name}['a']",
                "key-expression | {alice: 'a'}[principal.name]",
                "key-expression | getPrincipal().name",
                "key-expression | #this.principal.name",
                "permits | principal == null ? 1 : 2",
                "condition | principal == null",
                "plan-expression | principal.name"
            })
    void ruleThatNeedsAUserStopsTheStartUpBeforeSecurity(String part, String expression) {
        String[] properties = {
            "ratelimit.limits.login." + part + "=" + expression,
            "ratelimit.limits.login.plans.gold.capacity=9",
            "ratelimit.http[0].path=/any",
            "ratelimit.http[0].limit=login",
            "ratelimit.http[0].order=before-security"
        };
        String what =
                "ratelimit.http[0].order must be after-security, because an expression of the limit 'login' reads the"
                        + " principal (was before-security).";
        String fix = "Remove it, or use a key that needs no user, such as clientIp.";
        servlet.withPropertyValues(properties).run(context -> assertMistake(context.getStartupFailure(), what, fix));
        reactive.withPropertyValues(properties).run(context -> assertMistake(context.getStartupFailure(), what, fix));
    }

    @Test
    void ruleWhoseKeyIsNeverThereStopsTheStartUp() {
        String[] properties = {
            "ratelimit.limits.login.key-expression=null", "ratelimit.http[0].path=/any", "ratelimit.http[0].limit=login"
        };
        String what = "ratelimit.limits.login.key-expression must return a key (was \"null\").";
        String fix = "Read what tells callers apart, or write all-callers for one bucket.";
        servlet.withPropertyValues(properties).run(context -> assertMistake(context.getStartupFailure(), what, fix));
        reactive.withPropertyValues(properties).run(context -> assertMistake(context.getStartupFailure(), what, fix));
    }

    @Test
    void ruleBeforeSecurityNeedsAFilterBeforeSecurity() {
        String[] properties = {
            "ratelimit.limits.login.key-expression=clientIp",
            "ratelimit.http[0].path=/any",
            "ratelimit.http[0].limit=login",
            "ratelimit.http[0].order=before-security",
            "ratelimit.web.filter-order=-99"
        };
        String what =
                "ratelimit.web.filter-order must be less than -100, the order of Spring Security's filter, because"
                        + " ratelimit.http[0].order is before-security (was -99).";
        servlet.withPropertyValues(properties)
                .run(context -> assertMistake(context.getStartupFailure(), what, "Remove one of the two."));
        reactive.withPropertyValues(properties)
                .run(context -> assertMistake(context.getStartupFailure(), what, "Remove one of the two."));
    }

    @Test
    void rulesOfALimitForTheSameRequestsHaveOneOrder() {
        servlet.withPropertyValues(
                        "ratelimit.http[0].path=/any",
                        "ratelimit.http[0].limit=login",
                        "ratelimit.http[1].path=/a*",
                        "ratelimit.http[1].limit=login",
                        "ratelimit.http[1].order=after-security")
                .run(context -> assertMistake(
                        context.getStartupFailure(),
                        "ratelimit.http[1].order must be that of the other rule for the same requests and the limit 'login'",
                        "Give both rules the same order"));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '"',
            value = {
                "/login | #result.status | ratelimit.limits.login.permits-after \"#result.status\" names #result, but the path has no such variable | Its variables: #status.",
                "/login | status | ratelimit.limits.login.permits-after \"status\" names 'status', which is not a property of a request. | Did you mean #status?",
                "/login | clientIp | ratelimit.limits.login.permits-after \"clientIp\" uses clientIp, but the cost is computed after the response | Use #status or the path's variables.",
                "/{status} | #status | ratelimit.limits.login.permits-after must not be used for a path with a variable named status | Rename the variable.",
            })
    void costOfARequestThatCannotWorkStopsTheStartUp(String path, String expression, String what, String fix) {
        servlet.withPropertyValues(
                        "ratelimit.limits.login.permits-after=" + expression,
                        "ratelimit.http[0].path=" + path,
                        "ratelimit.http[0].limit=login")
                .run(context -> assertMistake(context.getStartupFailure(), what, fix));
    }

    @Test
    void refundOfALimitOfUrlsStopsTheStartUp() {
        servlet.withPropertyValues(
                        "ratelimit.limits.login.refund-on=java.io.IOException",
                        "ratelimit.http[0].path=/login",
                        "ratelimit.http[0].limit=login")
                .run(context -> assertThat(analysis(context.getStartupFailure()).getDescription())
                        .contains("Where: ratelimit.http[0]")
                        .contains("What: ratelimit.limits.login.refund-on must be empty for a limit of URLs"));
    }

    /** Such as one of Jersey or of servlets. */
    @Test
    void servletApplicationWithoutSpringMvcIsToldWhatIsMissing() {
        WebApplicationContextRunner application =
                servlet.withClassLoader(new FilteredClassLoader(DispatcherServlet.class));
        application
                .withPropertyValues("ratelimit.http[0].path=/login", "ratelimit.http[0].limit=login")
                .run(context -> assertMistake(
                        context.getStartupFailure(),
                        "ratelimit.http must be empty in an application without Spring MVC and WebFlux (was [/login]).",
                        "Remove it, or add spring-boot-starter-webmvc or spring-boot-starter-webflux."));
        application
                .withBean(Login.class)
                .withPropertyValues("ratelimit.limits.login.key-expression=clientIp")
                .run(
                        context -> assertMistake(
                                context.getStartupFailure(),
                                "ratelimit.limits.login.key-expression \"clientIp\" uses clientIp, but this application runs neither"
                                        + " Spring MVC nor WebFlux.",
                                "Use the method's parameters, or add spring-boot-starter-webmvc or spring-boot-starter-webflux."));
    }

    @Test
    void applicationThatIsNotAWebApplicationCannotLimitUrls() {
        LimitedContexts.inMemory()
                .withPropertyValues(
                        "ratelimit.limits.login.rate=1/m",
                        "ratelimit.http[0].path=/login",
                        "ratelimit.http[0].limit=login")
                .run(context -> assertThat(analysis(context).getDescription())
                        .contains("What: ratelimit.http must be empty in an application without Spring MVC and WebFlux"
                                + " (was [/login])."));
    }

    @Test
    void applicationWithoutRulesGetsNoFilter() {
        servlet.run(context -> assertThat(context).hasNotFailed().doesNotHaveBean(RequestLimitFilter.class));
        reactive.run(context -> assertThat(context).hasNotFailed().doesNotHaveBean(RequestLimitWebFilter.class));
    }

    @Test
    void disabledApplicationGetsNoFilter() {
        String[] properties = {
            "ratelimit.enabled=false", "ratelimit.http[0].path=/login", "ratelimit.http[0].limit=login"
        };
        servlet.withPropertyValues(properties)
                .run(context -> assertThat(context).hasNotFailed().doesNotHaveBean(RequestLimitFilter.class));
        reactive.withPropertyValues(properties)
                .run(context -> assertThat(context).hasNotFailed().doesNotHaveBean(RequestLimitWebFilter.class));
    }

    @Test
    void logAndEndpointNameTheRequests() {
        Stream.of("management.endpoints.web.exposure.include=ratelimits")
                .forEach(exposed -> servlet.withConfiguration(
                                AutoConfigurations.of(RateLimitsEndpointAutoConfiguration.class))
                        .withPropertyValues(
                                exposed,
                                "ratelimit.http[0].path=/login",
                                "ratelimit.http[0].methods=PUT,POST",
                                "ratelimit.http[0].limit=login",
                                "ratelimit.http[1].path=/api/**",
                                "ratelimit.http[1].limit=login")
                        .run(context -> assertRequests(context)));
    }

    private void assertRequests(ApplicationContext context) {
        assertThat(log.text())
                .contains(
                        "Rate limit 'login': TOKEN_BUCKET, capacity 1 at 1/m, key all-callers, on POST,PUT /login, /api/**; declared by"
                                + " the configuration alone");
        assertThat(context.getBean(RateLimitsEndpoint.class)
                        .limits(null)
                        .limits()
                        .get("login")
                        .requests())
                .containsOnlyKeys("POST,PUT /login", "/api/**");
    }
}
