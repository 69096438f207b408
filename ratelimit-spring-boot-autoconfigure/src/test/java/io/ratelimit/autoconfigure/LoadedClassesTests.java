package io.ratelimit.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.RateLimitExceededException;
import io.ratelimit.annotation.RateLimited;
import io.ratelimit.autoconfigure.actuate.RateLimitHealthAutoConfiguration;
import io.ratelimit.autoconfigure.actuate.RateLimitsEndpointAutoConfiguration;
import io.ratelimit.autoconfigure.redis.ApplicationRedisAutoConfiguration;
import io.ratelimit.autoconfigure.web.RateLimitReactiveAutoConfiguration;
import io.ratelimit.autoconfigure.web.RateLimitServletAutoConfiguration;
import io.ratelimit.testing.LongRunning;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** Loading classes takes most of the time that the starter adds to a start-up. */
@LongRunning
class LoadedClassesTests {

    /** Without the values of a property. */
    private static final String REDIS =
            "(io\\.ratelimit\\.redis(?!\\.RedisClock$)|io\\.lettuce|io\\.netty|redis\\.clients|org\\.springframework\\.data\\.redis)\\..*";

    /** What conditions look for, with the types that those classes extend, and the annotations of repositories. */
    private static final String LOOKED_FOR = "io\\.netty\\.util\\.NettyRuntime"
            + "|io\\.lettuce\\.core\\.((Abstract)?RedisClient|api\\.BaseRedisClient|tracing\\.(Micrometer)?Tracing)"
            + "|org\\.springframework\\.data\\.redis\\.("
            + "annotation\\.EnableRedisListeners|config\\.RedisListenerBootstrapConfiguration|cache\\.RedisCache(Configuration)?"
            + "|connection\\.((Reactive)?RedisConnectionFactory|jedis\\.JedisConnection|(Abstract|Defaulted)?RedisConnection"
            + "|Redis\\w*Commands(Provider)?)"
            + "|core\\.((Reactive)?RedisOperations|ReactiveRedisTemplate|RedisHash"
            + "|RedisKeyValueAdapter\\$(EnableKeyspaceEvents|ShadowCopy))"
            + "|listener\\.RedisMessageListenerContainer|repository\\.configuration\\.(EnableRedisRepositories|RedisRepositoriesRegistrar)"
            + "|repository\\.query\\.(RedisPartTreeQuery|RedisQueryCreator)|repository\\.support\\.RedisRepositoryFactoryBean)";

    /**
     * Without Boot's auto-configuration, so that what is loaded of Redis would be loaded by the starter.
     *
     * @param most how many classes of the starter that the start-up, and a call if there are limits, may load
     */
    @ParameterizedTest
    @CsvSource({"--ratelimit.enabled=false, unlimited, 95", "--ratelimit.store=in-memory, limited, 330"})
    void nothingOfRedisIsLoadedWithoutRedis(String argument, String outcome, int most)
            throws ReflectiveOperationException, IOException {
        List<String> loaded = Collections.synchronizedList(new ArrayList<>());
        assertThat(OtherClassPath.without("^$")
                        .run(
                                Starter.class,
                                loaded::add,
                                argument,
                                "--spring.main.banner-mode=off",
                                "--spring.main.web-application-type=none"))
                .isEqualTo(outcome);
        assertThat(loaded).filteredOn(name -> name.matches(REDIS)).isEmpty();
        assertThat(loaded)
                .filteredOn(name -> name.startsWith("io.ratelimit.") && !name.contains("Tests"))
                .hasSizeBetween(most / 3, most);
    }

    /** Conditions of Spring Boot, and that of {@link ApplicationRedisAutoConfiguration}, load the classes that they look for. Nothing else is loaded. */
    @ParameterizedTest
    @ValueSource(strings = {"--ratelimit.enabled=false", "--ratelimit.store=in-memory"})
    void onlyConditionsLoadClassesOfRedisWithoutRedis(String argument)
            throws ReflectiveOperationException, IOException {
        List<String> loaded = Collections.synchronizedList(new ArrayList<>());
        assertThat(OtherClassPath.without("^$")
                        .run(
                                AutoConfigured.class,
                                loaded::add,
                                argument,
                                "--spring.main.banner-mode=off",
                                "--spring.main.web-application-type=none"))
                .isEqualTo("started");
        assertThat(loaded)
                .filteredOn(name -> name.matches(REDIS))
                .isNotEmpty()
                .allMatch(name -> name.matches(LOOKED_FOR));
    }

    /** The other beans are created meanwhile. Nothing listens at that port. */
    @Test
    void startDoesNotLoadTheDriverItself() throws ReflectiveOperationException, IOException {
        Thread starting = Thread.currentThread();
        Map<String, Boolean> loaded = new ConcurrentHashMap<>();
        assertThat(OtherClassPath.without("^$")
                        .run(
                                Starter.class,
                                name -> loaded.put(name, Thread.currentThread() == starting),
                                "--ratelimit.redis.url=redis://localhost:1",
                                "--spring.main.banner-mode=off",
                                "--spring.main.web-application-type=none"))
                .isEqualTo("limited");
        assertThat(loaded)
                .extractingByKeys(
                        "io.lettuce.core.resource.DefaultClientResources",
                        "org.springframework.data.redis.core.RedisTemplate")
                .containsOnly(false);
    }

    /** An application that auto-configures the starter alone. */
    public static final class Starter {

        private Starter() {}

        /** Starts it, and calls a limited method twice. */
        public static String run(String... arguments) {
            try (ConfigurableApplicationContext context = new SpringApplication(OnlyStarter.class).run(arguments)) {
                Calls calls = context.getBean(Calls.class);
                calls.call();
                calls.call();
                return "unlimited";
            } catch (RateLimitExceededException ex) {
                return "limited";
            }
        }
    }

    /** An application that auto-configures everything. */
    @EnableAutoConfiguration
    public static final class AutoConfigured {

        private AutoConfigured() {}

        /** Starts it. */
        public static String run(String... arguments) {
            try (ConfigurableApplicationContext context = new SpringApplication(AutoConfigured.class).run(arguments)) {
                return context.isRunning() ? "started" : "";
            }
        }
    }

    @Configuration(proxyBeanMethods = false)
    @ImportAutoConfiguration({
        RateLimitAutoConfiguration.class,
        RateLimitServletAutoConfiguration.class,
        RateLimitReactiveAutoConfiguration.class,
        RateLimitHealthAutoConfiguration.class,
        RateLimitsEndpointAutoConfiguration.class
    })
    static class OnlyStarter {

        @Bean
        Calls calls() {
            return new Calls();
        }
    }

    static class Calls {

        @RateLimited(name = "calls", rate = "1/h")
        public void call() {}
    }
}
