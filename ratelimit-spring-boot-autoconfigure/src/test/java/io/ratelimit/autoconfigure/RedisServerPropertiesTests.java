package io.ratelimit.autoconfigure;

import static io.ratelimit.autoconfigure.LimitedContexts.analysis;
import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.RateLimit;
import io.ratelimit.autoconfigure.properties.RateLimitProperties;
import io.ratelimit.autoconfigure.redis.RedisServerProperties;
import io.ratelimit.autoconfigure.redis.RedisStoreProperties;
import io.ratelimit.redis.RedisClock;
import io.ratelimit.testing.LogRecorder;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.context.properties.bind.BindHandler;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.core.env.MapPropertySource;
import org.springframework.core.env.StandardEnvironment;
import org.springframework.core.env.SystemEnvironmentPropertySource;

/** {@code ratelimit.redis.<name>} beside the properties of {@code ratelimit.redis}. */
class RedisServerPropertiesTests {

    private final ApplicationContextRunner runner = LimitedContexts.inMemory();

    @Test
    void serverHasThePropertiesOfTheFirstButNotItsConnection() {
        RedisStoreProperties eu = bind(Map.of(
                        "ratelimit.redis.url", "redis://home",
                        "ratelimit.redis.password", "secret",
                        "ratelimit.redis.timeout", "3s",
                        "ratelimit.redis.key-prefix", "shop",
                        "ratelimit.redis.hash-keys", "true",
                        "ratelimit.redis.hash-keys-secret", "salt",
                        "ratelimit.redis.functions", "false",
                        "ratelimit.redis.clock", "instance",
                        "ratelimit.redis.eu-west.host", "redis.eu",
                        "ratelimit.redis.euWest.timeout", "1s"))
                .get("eu-west");
        assertThat(eu.host()).isEqualTo("redis.eu");
        assertThat(eu.timeout()).isEqualTo(Duration.ofSeconds(1));
        assertThat(eu.keyPrefix()).isEqualTo("shop");
        assertThat(eu.hashKeys()).isTrue();
        assertThat(eu.hashKeysSecret()).isEqualTo("salt");
        assertThat(eu.functions()).isFalse();
        assertThat(eu.clock()).isEqualTo(RedisClock.INSTANCE);
        assertThat(eu.rememberRejections()).isTrue();
        assertThat(eu.url()).isNull();
        assertThat(eu.password()).isNull();
    }

    @Test
    void variablesOfTheEnvironmentConfigureAServer() {
        StandardEnvironment environment = new StandardEnvironment();
        environment
                .getPropertySources()
                .replace(
                        StandardEnvironment.SYSTEM_ENVIRONMENT_PROPERTY_SOURCE_NAME,
                        new SystemEnvironmentPropertySource(
                                StandardEnvironment.SYSTEM_ENVIRONMENT_PROPERTY_SOURCE_NAME,
                                Map.of(
                                        "RATELIMIT_REDIS_EUWEST_PASSWORD", "secret",
                                        "RATELIMIT_REDIS_CLIENT_NAME", "limits",
                                        "RATELIMIT_REDIS_KEY_PREFIX", "shop")));
        environment
                .getPropertySources()
                .addLast(new MapPropertySource("file", Map.of("ratelimit.redis.eu-west.host", "redis.eu")));
        assertThat(RedisServerProperties.names(environment)).containsExactly(Map.entry("euwest", "eu-west"));
        Map<String, RedisStoreProperties> servers =
                RedisServerProperties.bind(environment, base(environment), BindHandler.DEFAULT);
        assertThat(servers).containsOnlyKeys("eu-west");
        assertThat(servers.get("eu-west").password()).isEqualTo("secret");
    }

    @ParameterizedTest
    @CsvSource({
        "ratelimit.redis.ulr,x,There is no property ratelimit.redis.ulr,Under ratelimit.redis there are: url",
        "ratelimit.redis.hots,x,There is no property ratelimit.redis.hots,Did you mean ratelimit.redis.host?",
        "ratelimit.redis.eu,x,There is no property ratelimit.redis.eu,and the names of further servers",
        "ratelimit.redis.eu.hots,x,There is no property ratelimit.redis.eu.hots,Did you mean ratelimit.redis.eu.host?",
        "ratelimit.redis.eu.sentinel.maste,x,There is no property ratelimit.redis.eu.sentinel.maste,Did you mean ratelimit.redis.eu.sentinel.master?",
        "ratelimit.redis.sll.enabled,true,There is no property ratelimit.redis.sll.enabled,Did you mean ratelimit.redis.ssl?",
        "ratelimit.redis.sentinal.username,x,ratelimit.redis.sentinal must tell where the server is.,Did you mean ratelimit.redis.sentinel?",
        "ratelimit.redis.timeout.url,x,There is no property ratelimit.redis.timeout.url,takes a single value",
        "ratelimit.redis.ssl.url,x,There is no property ratelimit.redis.ssl.url,Under ratelimit.redis.ssl there are",
        "ratelimit.redis.default.url,redis://x,ratelimit.redis.default must not be set,Set ratelimit.redis.url",
        "ratelimit.redis.eu.timeout,0s,ratelimit.redis.eu must tell where the server is.,Set url",
        "ratelimit.redis.eu.url,'',ratelimit.redis.eu.url must not be empty.,Give it a value",
        "ratelimit.redis.eu.url,${nope},ratelimit.redis.eu.url must not have an unresolved placeholder,Set the property nope",
        "ratelimit.redis.eu.port,x,ratelimit.redis.eu.port must be a whole number,Write it in digits"
    })
    void mistakeStopsTheStartUp(String property, String value, String problem, String fix) {
        runner.withPropertyValues(property + "=" + value).run(context -> {
            FailureAnalysis analysis = analysis(context);
            assertThat(analysis.getDescription()).contains(problem);
            assertThat(analysis.getAction()).contains(fix);
        });
    }

    @ParameterizedTest
    @CsvSource({
        "timeout=0s,ratelimit.redis.eu.timeout must be positive (was 0s).",
        "key-prefix=a{b},ratelimit.redis.eu.key-prefix must not contain braces",
        "hash-keys-secret=x,ratelimit.redis.eu.hash-keys-secret must not be set without ratelimit.redis.eu.hash-keys=true.",
        "url=redis://x,'ratelimit.redis.eu must name its servers in one way (was url, host or port).'"
    })
    void mistakeInTheValueOfAServerStopsTheStartUp(String property, String problem) {
        runner.withPropertyValues("ratelimit.redis.eu.host=redis.eu", "ratelimit.redis.eu." + property)
                .run(context -> assertThat(analysis(context).getDescription()).contains(problem));
    }

    @Test
    void credentialsOfAServerMayBeEmpty() {
        runner.withPropertyValues("ratelimit.redis.eu.host=redis.eu", "ratelimit.redis.eu.password=")
                .run(context -> assertThat(context).hasNotFailed());
    }

    @ParameterizedTest
    @CsvSource({
        "ratelimit.limits.quotes.redis,uropa,'ratelimit.limits.quotes.redis must name a Redis server of ratelimit.redis (was \"uropa\").','Did you mean europe? Known servers: europe.'",
        "ratelimit.defaults.redis,mars,'ratelimit.defaults.redis must name a Redis server of ratelimit.redis (was \"mars\").',Known servers: europe."
    })
    void unknownServerStopsTheStartUp(String property, String value, String problem, String fix) {
        runner.withPropertyValues(
                        "ratelimit.redis.europe.host=redis.eu",
                        "ratelimit.limits.quotes.rate=1/s",
                        property + "=" + value)
                .run(context -> {
                    FailureAnalysis analysis = analysis(context);
                    assertThat(analysis.getDescription()).contains(problem);
                    assertThat(analysis.getAction()).contains(fix);
                });
    }

    @Test
    void unknownServerOfABeanStopsTheStartUp() {
        runner.withBean(
                        RateLimit.class,
                        () -> RateLimit.named("exports").rate("1/s").redis("eu").build())
                .run(context -> {
                    FailureAnalysis analysis = analysis(context);
                    assertThat(analysis.getDescription())
                            .contains(
                                    "redis of limit 'exports' must name a Redis server of ratelimit.redis (was \"eu\").");
                    assertThat(analysis.getAction()).contains("Set ratelimit.redis.eu.url");
                });
    }

    @Test
    void limitOfAnInstanceIsInNoServer() {
        ApplicationContextRunner application =
                runner.withPropertyValues("ratelimit.redis.eu.host=redis.eu", "ratelimit.limits.quotes.rate=1/s");
        application
                .withPropertyValues("ratelimit.limits.quotes.scope=instance", "ratelimit.limits.quotes.redis=eu")
                .run(context -> assertThat(analysis(context).getDescription())
                        .contains("ratelimit.limits.quotes.redis must not be set for a limit with scope INSTANCE"));
        application
                .withPropertyValues("ratelimit.limits.quotes.scope=instance", "ratelimit.defaults.redis=eu")
                .run(context -> assertThat(context).hasNotFailed());
    }

    /** A profile for development has the same limits. */
    @Test
    void inMemoryStoreIgnoresTheServer() {
        try (LogRecorder log = new LogRecorder("io.ratelimit")) {
            runner.withPropertyValues(
                            "ratelimit.redis.eu.host=redis.eu",
                            "ratelimit.limits.quotes.rate=1/s",
                            "ratelimit.limits.quotes.redis=eu")
                    .run(context -> assertThat(context).hasNotFailed());
            assertThat(log.text()).contains("redis eu").doesNotContain("No limit is counted");
        }
    }

    @Test
    void serverWithoutALimitIsLogged() {
        try (LogRecorder log = new LogRecorder("io.ratelimit")) {
            runner.withPropertyValues("ratelimit.redis.eu.host=redis.eu", "ratelimit.limits.quotes.rate=1/s")
                    .run(context -> assertThat(context).hasNotFailed());
            assertThat(log.text())
                    .contains(
                            "WARNING No limit is counted in Redis server 'eu' (ratelimit.redis.eu is set); set redis: eu"
                                    + " on a limit, or remove the server");
        }
    }

    private static Map<String, RedisStoreProperties> bind(Map<String, Object> properties) {
        StandardEnvironment environment = new StandardEnvironment();
        environment.getPropertySources().addFirst(new MapPropertySource("file", properties));
        return RedisServerProperties.bind(environment, base(environment), BindHandler.DEFAULT);
    }

    private static RedisStoreProperties base(StandardEnvironment environment) {
        return Binder.get(environment)
                .bindOrCreate("ratelimit", RateLimitProperties.class)
                .redis();
    }
}
