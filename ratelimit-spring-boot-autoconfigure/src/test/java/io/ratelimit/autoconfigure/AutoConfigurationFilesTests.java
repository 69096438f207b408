package io.ratelimit.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.aop.LimitedMethodHints;
import io.ratelimit.autoconfigure.actuate.RateLimitAuditAutoConfiguration;
import io.ratelimit.autoconfigure.actuate.RateLimitHealthAutoConfiguration;
import io.ratelimit.autoconfigure.actuate.RateLimitStatisticsAutoConfiguration;
import io.ratelimit.autoconfigure.actuate.RateLimitsEndpointAutoConfiguration;
import io.ratelimit.autoconfigure.redis.ApplicationRedisAutoConfiguration;
import io.ratelimit.autoconfigure.redis.MissingRedisFailureAnalyzer;
import io.ratelimit.autoconfigure.redis.RedisAutoConfigurationFilter;
import io.ratelimit.autoconfigure.web.RateLimitGatewayAutoConfiguration;
import io.ratelimit.autoconfigure.web.RateLimitGatewayMvcAutoConfiguration;
import io.ratelimit.autoconfigure.web.RateLimitGraphQlAutoConfiguration;
import io.ratelimit.autoconfigure.web.RateLimitGrpcAutoConfiguration;
import io.ratelimit.autoconfigure.web.RateLimitJerseyAutoConfiguration;
import io.ratelimit.autoconfigure.web.RateLimitRSocketAutoConfiguration;
import io.ratelimit.autoconfigure.web.RateLimitReactiveAutoConfiguration;
import io.ratelimit.autoconfigure.web.RateLimitServletAutoConfiguration;
import io.ratelimit.autoconfigure.web.RateLimitStompAutoConfiguration;
import java.io.IOException;
import java.util.List;
import java.util.Properties;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.aot.hint.RuntimeHintsRegistrar;
import org.springframework.beans.factory.aot.BeanFactoryInitializationAotProcessor;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.context.annotation.ImportCandidates;
import org.springframework.boot.diagnostics.FailureAnalyzer;
import org.springframework.context.ApplicationContextInitializer;
import org.springframework.core.io.ClassPathResource;
import org.springframework.core.io.support.PropertiesLoaderUtils;
import org.springframework.util.ClassUtils;

/** Classes that are named by strings exist. */
class AutoConfigurationFilesTests {

    /** Spring Boot 3 has these; Spring Boot 4 has moved them. */
    private static final List<String> OF_SPRING_BOOT_3 = List.of(
            "org.springframework.boot.autoconfigure.data.redis.RedisAutoConfiguration",
            "org.springframework.boot.actuate.autoconfigure.metrics.CompositeMeterRegistryAutoConfiguration",
            "org.springframework.boot.autoconfigure.data.redis.RedisAutoConfiguration",
            "org.springframework.boot.actuate.autoconfigure.metrics.CompositeMeterRegistryAutoConfiguration",
            "org.springframework.boot.actuate.autoconfigure.observation.ObservationAutoConfiguration",
            "org.springframework.boot.autoconfigure.web.reactive.WebFluxAutoConfiguration",
            "org.springframework.boot.autoconfigure.web.servlet.WebMvcAutoConfiguration");

    static List<Class<?>> autoConfigurations() {
        return Stream.of(
                        ApplicationRedisAutoConfiguration.class,
                        RateLimitAuditAutoConfiguration.class,
                        RateLimitAutoConfiguration.class,
                        RateLimitGraphQlAutoConfiguration.class,
                        RateLimitGrpcAutoConfiguration.class,
                        RateLimitHealthAutoConfiguration.class,
                        RateLimitJerseyAutoConfiguration.class,
                        RateLimitRSocketAutoConfiguration.class,
                        RateLimitReactiveAutoConfiguration.class,
                        RateLimitServletAutoConfiguration.class,
                        RateLimitStatisticsAutoConfiguration.class,
                        RateLimitStompAutoConfiguration.class,
                        RateLimitsEndpointAutoConfiguration.class)
                .<Class<?>>map(type -> type)
                .toList();
    }

    static Stream<String> earlierAutoConfigurations() {
        return autoConfigurations().stream()
                .map(type -> type.getAnnotation(AutoConfiguration.class))
                .flatMap(annotation ->
                        Stream.concat(Stream.of(annotation.afterName()), Stream.of(annotation.beforeName())));
    }

    @ParameterizedTest
    @MethodSource("earlierAutoConfigurations")
    void namedAutoConfigurationExistsInOneGeneration(String name) {
        assertThat(ClassUtils.isPresent(name, getClass().getClassLoader())).isEqualTo(!OF_SPRING_BOOT_3.contains(name));
    }

    /** Without metadata, Spring Boot reads the classes of the starter's auto-configurations at each start. */
    @Test
    void springBootKnowsEveryAutoConfigurationWithoutReadingIt() throws IOException {
        assertThat(PropertiesLoaderUtils.loadAllProperties(
                                "META-INF/spring-autoconfigure-metadata.properties",
                                getClass().getClassLoader())
                        .stringPropertyNames())
                .contains(
                        RateLimitGatewayAutoConfiguration.class.getName(),
                        RateLimitGatewayMvcAutoConfiguration.class.getName())
                .containsAll(autoConfigurations().stream().map(Class::getName).toList());
    }

    @Test
    void everyNameHasItsCounterpartInTheOtherGeneration() {
        assertThat(earlierAutoConfigurations().filter(OF_SPRING_BOOT_3::contains))
                .containsExactlyInAnyOrderElementsOf(OF_SPRING_BOOT_3);
        assertThat(earlierAutoConfigurations()).hasSize(2 * OF_SPRING_BOOT_3.size());
    }

    @Test
    void everyAutoConfigurationIsListed() {
        assertThat(ImportCandidates.load(AutoConfiguration.class, getClass().getClassLoader()))
                .filteredOn(name -> name.startsWith("io.ratelimit"))
                .containsExactlyInAnyOrderElementsOf(
                        // Without Spring Cloud Gateway, which the acceptance suite has.
                        Stream.concat(
                                        autoConfigurations().stream(),
                                        Stream.of(
                                                RateLimitGatewayAutoConfiguration.class,
                                                RateLimitGatewayMvcAutoConfiguration.class))
                                .map(Class::getName)
                                .toList());
    }

    @Test
    void leftOutAutoConfigurationsOfThisGenerationExist() {
        assertThat(RedisAutoConfigurationFilter.CONNECTION)
                .filteredOn(name -> ClassUtils.isPresent(name, getClass().getClassLoader()))
                .extracting(ClassUtils::getShortName)
                .containsExactlyInAnyOrder(
                        "DataRedisAutoConfiguration",
                        "DataRedisReactiveAutoConfiguration",
                        "LettuceObservationAutoConfiguration");
    }

    @Test
    void listedFactoriesExist() throws IOException {
        Properties factories = PropertiesLoaderUtils.loadProperties(
                new ClassPathResource("META-INF/spring.factories", RateLimitAutoConfiguration.class.getClassLoader()));
        assertThat(factories.getProperty(FailureAnalyzer.class.getName()).split(","))
                .containsExactlyInAnyOrder(
                        MissingRedisFailureAnalyzer.class.getName(),
                        "io.ratelimit.autoconfigure.diagnostics.RateLimitConfigurationFailureAnalyzer");
        assertThat(factories.getProperty(ApplicationContextInitializer.class.getName()))
                .isEqualTo(UnlimitedContextWarning.class.getName());
    }

    @Test
    void listedAotProcessorsExist() throws IOException {
        Properties factories = PropertiesLoaderUtils.loadProperties(new ClassPathResource(
                "META-INF/spring/aot.factories", RateLimitAutoConfiguration.class.getClassLoader()));
        assertThat(factories
                        .getProperty(BeanFactoryInitializationAotProcessor.class.getName())
                        .split(","))
                .containsExactlyInAnyOrder(LimitedMethodHints.class.getName(), AlgorithmPartHints.class.getName());
        assertThat(factories.getProperty(RuntimeHintsRegistrar.class.getName()))
                .isEqualTo(RateLimitRuntimeHints.class.getName());
    }
}
