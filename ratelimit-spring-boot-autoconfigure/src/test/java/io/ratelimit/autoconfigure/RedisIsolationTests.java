package io.ratelimit.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.RateLimiterRegistry;
import io.ratelimit.autoconfigure.redis.MissingRedisFailureAnalyzer;
import io.ratelimit.redis.connection.RedisConnector;
import io.ratelimit.testing.LongRunning;
import java.util.Arrays;
import java.util.Locale;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.cache.autoconfigure.RedisCacheManagerBuilderCustomizer;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.data.redis.autoconfigure.DataRedisConnectionDetails;
import org.springframework.boot.data.redis.autoconfigure.DataRedisRepositoriesAutoConfiguration;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.cache.CacheManager;
import org.springframework.cache.annotation.EnableCaching;
import org.springframework.cache.caffeine.CaffeineCacheManager;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.Environment;
import org.springframework.data.annotation.Id;
import org.springframework.data.redis.cache.RedisCacheConfiguration;
import org.springframework.data.redis.cache.RedisCacheManager;
import org.springframework.data.redis.connection.ReactiveRedisConnectionFactory;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.core.ReactiveRedisTemplate;
import org.springframework.data.redis.core.ReactiveStringRedisTemplate;
import org.springframework.data.redis.core.RedisHash;
import org.springframework.data.redis.core.RedisTemplate;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.data.redis.listener.RedisMessageListenerContainer;
import org.springframework.data.redis.repository.configuration.EnableRedisRepositories;
import org.springframework.data.redis.serializer.RedisSerializationContext;
import org.springframework.data.repository.CrudRepository;

/** The Redis that the starter brings serves rate limits alone, unless the application uses Redis itself. */
@Timeout(180)
@LongRunning
class RedisIsolationTests {

    private static final String OWN_REDIS = "ratelimit.redis.url=redis://localhost:1";

    private static final String IN_MEMORY = "ratelimit.store=in-memory";

    private static final String DISABLED = "ratelimit.enabled=off";

    /** Limits connect to Redis at its default address. */
    private static final String NO_PROPERTY = "ratelimit.on-store-failure=local";

    private final ApplicationContextRunner application =
            new ApplicationContextRunner().withUserConfiguration(Application.class);

    static Stream<String> withoutTheApplicationsRedis() {
        return Stream.of(NO_PROPERTY, OWN_REDIS, IN_MEMORY, DISABLED);
    }

    @ParameterizedTest
    @MethodSource("withoutTheApplicationsRedis")
    void nothingOfRedisIsThere(String property) {
        application.withPropertyValues(property).run(context -> {
            assertThat(context).hasSingleBean(RateLimiterRegistry.class);
            assertCachesAndHealthStay(context);
            assertThat(Arrays.stream(context.getBeanDefinitionNames())
                            .filter(name -> name.toLowerCase(Locale.ROOT).contains("redis")
                                    || name.toLowerCase(Locale.ROOT).contains("lettuce"))
                            // Of the cache's metrics, which only ask the class path.
                            .filter(name -> !name.contains("edisCacheMeterBinderProvider"))
                            .filter(name -> !name.startsWith("rateLimit") && !name.startsWith("io.ratelimit"))
                            .filter(name -> !name.startsWith("redisIsolationTests")))
                    .isEmpty();
        });
    }

    @Test
    void withoutAnyPropertyLimitsHaveAConnectionToTheDefaultAddressAlone() {
        application.run(context ->
                assertThat(context.getBean(RedisConnector.class).address()).isEqualTo("localhost:6379"));
    }

    @Test
    void cachesThatAreWantedInRedisAreThereWithoutAnAddress() {
        application
                .withPropertyValues("spring.cache.type=redis")
                .run(context -> assertThat(context).getBean(CacheManager.class).isInstanceOf(RedisCacheManager.class));
    }

    @ParameterizedTest
    @MethodSource("withoutTheApplicationsRedis")
    void applicationsConnectionFactoryIsUsedAsWithoutTheStarter(String property) {
        application
                .withPropertyValues(property)
                .withBean(LettuceConnectionFactory.class, () -> new LettuceConnectionFactory())
                .run(RedisIsolationTests::assertRedisIsTheApplications);
    }

    @ParameterizedTest
    @MethodSource("withoutTheApplicationsRedis")
    void applicationsConnectionDetailsAreUsedAsWithoutTheStarter(String property) {
        application
                .withPropertyValues(property)
                .withBean(DataRedisConnectionDetails.class, () -> new DataRedisConnectionDetails() {
                    @Override
                    public Standalone getStandalone() {
                        return Standalone.of("details.example.com", 6379);
                    }
                })
                .run(context -> {
                    assertRedisIsTheApplications(context);
                    assertThat(context.getBean(LettuceConnectionFactory.class).getHostName())
                            .isEqualTo("details.example.com");
                });
    }

    @Test
    void connectionDetailsWithoutAnyPropertyAreTheApplications() {
        application
                .withBean(DataRedisConnectionDetails.class, () -> new DataRedisConnectionDetails() {
                    @Override
                    public Standalone getStandalone() {
                        return Standalone.of("localhost", 1);
                    }
                })
                .run(RedisIsolationTests::assertRedisIsTheApplications);
    }

    static Stream<Arguments> usesOfRedis() {
        return Stream.of(
                        CachesInRedis.class,
                        CustomizedCaches.class,
                        OwnTemplate.class,
                        OwnReactiveTemplate.class,
                        Listeners.class,
                        Repositories.class)
                .flatMap(use -> withoutTheApplicationsRedis().map(property -> Arguments.of(use, property)));
    }

    /** The application relies on Spring Boot's default address. */
    @ParameterizedTest
    @MethodSource("usesOfRedis")
    void applicationWhoseBeansUseRedisKeepsIt(Class<?> use, String property) {
        application.withPropertyValues(property).withUserConfiguration(use).run(context -> {
            assertThat(context).hasNotFailed().hasSingleBean(RedisConnectionFactory.class);
            assertThat(context).getBean(CacheManager.class).isInstanceOf(RedisCacheManager.class);
            assertThat(context).hasBean("redisHealthContributor");
        });
    }

    @Test
    void exclusionsOfTheApplicationHold() {
        application
                .withPropertyValues(OWN_REDIS)
                .withPropertyValues("spring.autoconfigure.exclude=" + DataRedisAutoConfiguration.class.getName() + ","
                        + DataRedisRepositoriesAutoConfiguration.class.getName())
                .withBean(LettuceConnectionFactory.class, () -> new LettuceConnectionFactory())
                .run(context -> assertThat(context).hasNotFailed().doesNotHaveBean(StringRedisTemplate.class));
    }

    @ParameterizedTest
    @MethodSource("withoutTheApplicationsRedis")
    void missingBeanOfRedisIsExplained(String property) {
        AtomicReference<Environment> environment = new AtomicReference<>();
        application
                .withPropertyValues(property)
                .withInitializer(context -> environment.set(context.getEnvironment()))
                .withBean(UserOfRedis.class)
                .run(context -> {
                    assertThat(context).hasFailed();
                    FailureAnalysis analysis =
                            new MissingRedisFailureAnalyzer(environment.get()).analyze(context.getStartupFailure());
                    assertThat(analysis.getDescription()).contains("StringRedisTemplate");
                    assertThat(analysis.getAction()).contains("spring.data.redis.host");
                });
    }

    private static void assertCachesAndHealthStay(AssertableApplicationContext context) {
        assertThat(context).getBean(CacheManager.class).isInstanceOf(CaffeineCacheManager.class);
        assertThat(context).doesNotHaveBean("redisHealthContributor").hasBean("pingHealthContributor");
        assertThat(context.getBeanDefinitionNames()).noneMatch(name -> name.startsWith("redisKeyValue"));
    }

    private static void assertRedisIsTheApplications(AssertableApplicationContext context) {
        assertThat(context)
                .hasSingleBean(RedisConnectionFactory.class)
                .hasSingleBean(StringRedisTemplate.class)
                .hasSingleBean(ReactiveStringRedisTemplate.class);
        assertThat(context).getBean(CacheManager.class).isInstanceOf(RedisCacheManager.class);
        assertThat(context).hasBean("redisHealthContributor");
        assertThat(context.getBeanDefinitionNames()).anyMatch(name -> name.startsWith("redisKeyValue"));
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    @EnableCaching
    static class Application {}

    static class UserOfRedis {

        UserOfRedis(StringRedisTemplate template, RedisConnectionFactory connections) {}
    }

    @Configuration(proxyBeanMethods = false)
    static class CachesInRedis {

        @Bean
        RedisCacheConfiguration caches() {
            return RedisCacheConfiguration.defaultCacheConfig();
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class CustomizedCaches {

        @Bean
        RedisCacheManagerBuilderCustomizer caches() {
            return builder -> {};
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class OwnTemplate {

        @Bean
        RedisTemplate<String, Long> longs(RedisConnectionFactory connections) {
            RedisTemplate<String, Long> longs = new RedisTemplate<>();
            longs.setConnectionFactory(connections);
            return longs;
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class OwnReactiveTemplate {

        @Bean
        ReactiveRedisTemplate<String, String> texts(ReactiveRedisConnectionFactory connections) {
            return new ReactiveRedisTemplate<>(connections, RedisSerializationContext.string());
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class Listeners {

        @Bean
        RedisMessageListenerContainer listeners(RedisConnectionFactory connections) {
            RedisMessageListenerContainer listeners = new RedisMessageListenerContainer();
            listeners.setConnectionFactory(connections);
            return listeners;
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableRedisRepositories(considerNestedRepositories = true)
    static class Repositories {

        interface Notes extends CrudRepository<Note, String> {}
    }

    @RedisHash
    static class Note {

        @Id
        @Nullable
        String id;
    }
}
