package io.ratelimit.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ratelimit.RateLimitConfigurationException;
import io.ratelimit.RateLimiterRegistry;
import io.ratelimit.annotation.RateLimited;
import io.ratelimit.autoconfigure.properties.RateLimitProperties;
import io.ratelimit.autoconfigure.redis.RedisServers;
import io.ratelimit.testing.LogRecorder;
import io.ratelimit.testing.LongRunning;
import java.util.HashMap;
import java.util.Map;
import java.util.logging.Logger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.core.env.StandardEnvironment;
import org.springframework.core.env.SystemEnvironmentPropertySource;

/** Starts applications in pods beside services of Kubernetes. */
@LongRunning
class ServiceVariablesTests {

    private static ConfigurableApplicationContext run(Map<String, Object> variables, String... arguments) {
        StandardEnvironment environment = new StandardEnvironment();
        String source = StandardEnvironment.SYSTEM_ENVIRONMENT_PROPERTY_SOURCE_NAME;
        environment.getPropertySources().replace(source, new SystemEnvironmentPropertySource(source, variables));
        return new SpringApplicationBuilder(Application.class)
                .environment(environment)
                .web(WebApplicationType.NONE)
                .properties("ratelimit.store=in-memory", "spring.main.banner-mode=off")
                .run(arguments);
    }

    private static Map<String, Object> service(String name) {
        Map<String, Object> variables = new HashMap<>();
        variables.put(name + "_SERVICE_HOST", "10.0.0.6");
        variables.put(name + "_SERVICE_PORT", "6379");
        variables.put(name + "_SERVICE_PORT_REDIS", "6379");
        variables.put(name + "_PORT", "tcp://10.0.0.6:6379");
        variables.put(name + "_PORT_6379_TCP", "tcp://10.0.0.6:6379");
        variables.put(name + "_PORT_6379_TCP_PROTO", "tcp");
        variables.put(name + "_PORT_6379_TCP_PORT", "6379");
        variables.put(name + "_PORT_6379_TCP_ADDR", "10.0.0.6");
        return variables;
    }

    /** Spring Boot leaves the levels of an application's loggers behind, for the tests that follow in this JVM. */
    @AfterEach
    void forgetLevel() {
        Logger.getLogger("io.ratelimit").setLevel(null);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "RATELIMIT",
                "RATELIMIT_REDIS",
                "RATELIMIT_REDIS_EU",
                "RATELIMIT_LIMITS",
                "RATELIMIT_WEB",
                "RATELIMIT_STORE"
            })
    void applicationStartsBesideAService(String name) {
        try (LogRecorder log = new LogRecorder("io.ratelimit");
                ConfigurableApplicationContext context = run(service(name), "--logging.level.io.ratelimit=debug")) {
            assertThat(context.getBean(RateLimitProperties.class).redis().port())
                    .isNull();
            assertThat(log.text().lines())
                    .filteredOn(line -> line.contains("are no properties are ignored: ["))
                    .singleElement()
                    .asString()
                    .startsWith("FINE ")
                    .contains(service(name).keySet());
        }
    }

    /** Of the application itself, or of a link to a container. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "RATELIMIT_HOME",
                "RATELIMIT_VERSION",
                "RATELIMIT_REDIS_NAME",
                "RATELIMIT_REDIS_ENV_REDIS_VERSION",
                "RATELIMIT_REDIS_EU_NAME",
                "RATELIMIT_WEB_ROOT"
            })
    void variableOfAnUnknownNameIsNoProperty(String name) {
        try (ConfigurableApplicationContext context =
                run(new HashMap<>(Map.of(name, "/any/7.2")), "--ratelimit.store=redis")) {
            assertThat(context.getBean(RedisServers.class).names()).isEmpty();
        }
    }

    @Test
    void placeholderFindsTheService() {
        try (ConfigurableApplicationContext context =
                run(service("RATELIMIT_REDIS"), "--ratelimit.redis.host=${RATELIMIT_REDIS_SERVICE_HOST}")) {
            assertThat(context.getBean(RateLimitProperties.class).redis().host())
                    .isEqualTo("10.0.0.6");
        }
    }

    @Test
    void otherVariablesAreProperties() {
        Map<String, Object> variables = service("RATELIMIT_REDIS");
        variables.put("RATELIMIT_LIMITS_QUOTES_CAPACITY", "7");
        variables.put("RATELIMIT_REDIS_HOST", "redis.example.com");
        try (ConfigurableApplicationContext context = run(variables)) {
            RateLimitProperties properties = context.getBean(RateLimitProperties.class);
            assertThat(properties.redis().host()).isEqualTo("redis.example.com");
            assertThat(properties.limits()).containsOnlyKeys("quotes");
        }
    }

    @Test
    void portOfAPropertyIsRead() {
        try (ConfigurableApplicationContext context = run(new HashMap<>(Map.of("RATELIMIT_REDIS_PORT", "6380")))) {
            assertThat(context.getBean(RateLimitProperties.class).redis().port())
                    .isEqualTo(6380);
        }
    }

    /** A variable of the pod replaces that of the service. */
    @Test
    void portOfAPropertyIsReadBesideAService() {
        Map<String, Object> variables = service("RATELIMIT_REDIS");
        variables.put("RATELIMIT_REDIS_PORT", "6380");
        try (ConfigurableApplicationContext context = run(variables, "--ratelimit.store=redis")) {
            assertThat(context.getBean(RateLimitProperties.class).redis().port())
                    .isEqualTo(6380);
            assertThat(context.getBean(RedisServers.class).names()).isEmpty();
        }
    }

    @Test
    void mistakeInAVariableStopsTheStartUp() {
        assertThatThrownBy(() -> run(new HashMap<>(Map.of("RATELIMIT_REDIS_PORT", "redis:6380"))))
                .isInstanceOf(RateLimitConfigurationException.class);
    }

    /** Only properties below them have values. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "RATELIMIT",
                "RATELIMIT_REDIS",
                "RATELIMIT_REDIS_CLUSTER",
                "RATELIMIT_LIMITS",
                "RATELIMIT_HTTP",
                "RATELIMIT_WEB"
            })
    void variableThatIsNoPropertyIsIgnored(String name) {
        try (LogRecorder log = new LogRecorder("io.ratelimit");
                ConfigurableApplicationContext context =
                        run(new HashMap<>(Map.of(name, "100")), "--ratelimit.redis.host=${" + name + "}")) {
            assertThat(context.getBean(RateLimitProperties.class).redis().host())
                    .isEqualTo("100");
            assertThat(log.text())
                    .contains("INFO Environment variables that are no properties are ignored: [" + name + "]");
        }
    }

    /** A placeholder of any property, annotation or bean can refer to it. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "RATELIMIT_LIMITS_QUOTES_CAPACTY",
                "RATELIMIT_LIMITS_MY_LIMIT_CAPACITY",
                "RATELIMIT_LIMITS_UNDER_SCORE_CAPACITY",
                "RATELIMIT_LIMITS_OTHER_LIMIT_CAPACITY",
                "RATELIMIT_DEFAULTS_RATES"
            })
    void variableThatSetsNothingIsNoWarning(String name) {
        try (LogRecorder log = new LogRecorder("io.ratelimit");
                ConfigurableApplicationContext context = run(limits(name))) {
            assertThat(context.getBean(RateLimiterRegistry.class).names())
                    .containsExactlyInAnyOrder("quotes", "my-limit", "under_score");
            assertThat(log.text().lines())
                    .filteredOn(line -> line.contains("set no property"))
                    .singleElement()
                    .asString()
                    .startsWith("INFO ")
                    .contains("Environment variables that set no property, but can replace placeholders: [" + name
                            + "]. Write names without - and _: my-limit is MYLIMIT.");
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "RATELIMIT_LIMITS_QUOTES_CAPACITY",
                "RATELIMIT_LIMITS_MYLIMIT_CAPACITY",
                "RATELIMIT_LIMITS_UNDERSCORE_CAPACITY",
                "RATELIMIT_DEFAULTS_RATE",
                "RATELIMIT_LIMITS_QUOTES_ONSTOREFAILURE",
                "RATELIMIT_LIMITS_QUOTES_PLANS_GOLD_CAPACITY",
                "RATELIMIT_LIMITS_QUOTES_REFUNDON_0_"
            })
    void variableThatSetsAPropertyIsNot(String name) {
        String value = name.endsWith("0_") ? "java.io.IOException" : name.endsWith("FAILURE") ? "allow" : "7";
        try (LogRecorder log = new LogRecorder("io.ratelimit");
                ConfigurableApplicationContext context =
                        run(new HashMap<>(Map.of(name, value)), "--ratelimit.limits.quotes.plan-expression=none")) {
            assertThat(context.getBean(RateLimiterRegistry.class).names()).contains("quotes");
            assertThat(log.text()).doesNotContain("set no property");
        }
    }

    @ParameterizedTest
    @CsvSource({
        "RATELIMIT_LIMITS_QUOTES_CAPACITY, capacity=3",
        "RATELIMIT_LIMITS_QUOTES_REFUNDON_2_, refund-on=java.io.IOException",
        "RATELIMIT_LIMITS_QUOTES_REFUNDON_2, refund-on=java.io.IOException"
    })
    void variableThatAnotherSourcePrecedesIsNotLogged(String name, String property) {
        try (LogRecorder log = new LogRecorder("io.ratelimit");
                ConfigurableApplicationContext context = run(limits(name), "--ratelimit.limits.quotes." + property)) {
            assertThat(context.isRunning()).isTrue();
            assertThat(log.text()).doesNotContain("set no property");
        }
    }

    private static Map<String, Object> limits(String name) {
        return new HashMap<>(Map.of(name, "7"));
    }

    /** The limit's name is the user's. */
    @Test
    void valueOfALimitIsAMistake() {
        assertThatThrownBy(() -> run(new HashMap<>(Map.of("RATELIMIT_LIMITS_QUOTES", "100"))))
                .isInstanceOf(RateLimitConfigurationException.class)
                .hasMessageStartingWith("ratelimit.limits.quotes must not have a value");
    }

    /** It is meant for the property enabled. Without TLS, a password would be readable. */
    @ParameterizedTest
    @CsvSource({
        "RATELIMIT_REDIS_SSL, ratelimit.redis.ssl",
        "RATELIMIT_REDIS_EU_SSL, ratelimit.redis.eu.ssl",
        "RATELIMIT_STATISTICS, ratelimit.statistics",
        "RATELIMIT_TOPKEYS, ratelimit.top-keys"
    })
    void valueOfASwitchIsAMistake(String name, String property) {
        assertThatThrownBy(() -> run(new HashMap<>(Map.of(name, "true"))))
                .isInstanceOf(RateLimitConfigurationException.class)
                .hasMessageStartingWith(property + " must not have a value");
    }

    @ParameterizedTest
    @CsvSource({"RATELIMIT_REDIS_PORT, ratelimit.redis.port", "RATELIMIT_DRYRUN, ratelimit.dry-run"})
    void messageNamesTheVariable(String name, String property) {
        assertThatThrownBy(() -> run(new HashMap<>(Map.of(name, "central"))))
                .isInstanceOf(RateLimitConfigurationException.class)
                .hasMessageStartingWith(property + " must be ")
                .hasMessageContaining(" (was \"central\" in the environment variable " + name + ").");
    }

    static class Quotes {

        @RateLimited(name = "quotes", rate = "10/m")
        public String quote() {
            return "any";
        }

        @RateLimited(name = "my-limit", rate = "10/m")
        public void withADash() {}

        @RateLimited(name = "under_score", rate = "10/m")
        public void withAnUnderscore() {}
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    @Import(Quotes.class)
    static class Application {}
}
