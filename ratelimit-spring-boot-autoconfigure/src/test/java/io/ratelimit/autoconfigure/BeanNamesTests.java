package io.ratelimit.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.RateLimiterRegistry;
import io.ratelimit.testing.LongRunning;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.CodeSource;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.beans.factory.annotation.AnnotatedBeanDefinition;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.type.MethodMetadata;
import org.springframework.util.ClassUtils;

/** No bean of the starter has the name of a bean of another library or of a limiter that the application has itself. */
@LongRunning
class BeanNamesTests {

    /** A name such as {@code rateLimitGate}, and none such as {@code rateLimiterRegistry}, which Resilience4j has. */
    private static final Pattern OURS =
            Pattern.compile("rateLimit(s|ed)?[A-Z]\\w*|ratelimitHealthContributor|.*\\bio\\.ratelimit\\..*");

    /** What applications call the beans of a limiter of their own. */
    private static final List<String> OF_APPLICATIONS = List.of(
            "rateLimitAspect",
            "rateLimitConfig",
            "rateLimitConfiguration",
            "rateLimitExceptionAdvice",
            "rateLimitExceptionHandler",
            "rateLimitFilter",
            "rateLimitInterceptor",
            "rateLimitManager",
            "rateLimitProperties",
            "rateLimitService",
            "rateLimitStore");

    private static final Pattern BEAN_METHOD =
            Pattern.compile("\\n\\s+@Bean(?:\\((?:name = )?(?<name>\"\\w+\"|[A-Z_]{2,}\\b)?[^)]*\\))?"
                    + "(?:\\s+@\\w+(?:\\((?:[^()]|\\([^()]*\\))*\\))?)*\\s+[^;{=(]*?(?<method>\\w+)\\(");

    static Stream<Arguments> modules() {
        return Stream.of(
                Arguments.of("ratelimit-spring-boot-autoconfigure", 60),
                Arguments.of("ratelimit-spring-boot-dashboard", 2),
                Arguments.of("ratelimit-spring-boot-test", 3));
    }

    /** Also methods for another version of Spring Boot, and those whose condition no test fulfils. */
    @ParameterizedTest
    @MethodSource("modules")
    void everyBeanMethodHasANameOfOurs(String module, int atLeast) throws IOException {
        try (Stream<Path> files = Files.walk(Path.of("..", module, "src/main/java"))) {
            List<String> names = files.filter(file -> file.toString().endsWith(".java"))
                    .flatMap(BeanNamesTests::beanMethods)
                    .toList();
            assertThat(names)
                    .hasSizeGreaterThanOrEqualTo(atLeast)
                    .allMatch(name -> OURS.matcher(name).matches());
            assertThat(names).doesNotContainAnyElementsOf(OF_APPLICATIONS);
        }
    }

    private static Stream<String> beanMethods(Path file) {
        try {
            String source = Files.readString(file);
            return BEAN_METHOD.matcher(source).results().map(bean -> name(bean, source));
        } catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    private static String name(MatchResult bean, String source) {
        String name = bean.group(1);
        if (name == null) {
            return bean.group(2);
        }
        return name.startsWith("\"")
                ? name.replace("\"", "")
                : Pattern.compile(name + " = \"(\\w+)\"")
                        .matcher(source)
                        .results()
                        .findFirst()
                        .orElseThrow()
                        .group(1);
    }

    /** Whatever has registered it: a method, an import or a registrar. */
    @ParameterizedTest
    @CsvSource({
        "NONE, --ratelimit.store=in-memory",
        "SERVLET, --ratelimit.store=in-memory",
        "SERVLET, --ratelimit.redis.url=redis://127.0.0.1:1",
        "SERVLET, --ratelimit.enabled=false",
        "REACTIVE, --ratelimit.store=in-memory",
        "REACTIVE, --ratelimit.redis.url=redis://127.0.0.1:1",
        "REACTIVE, --ratelimit.enabled=false",
    })
    void everyBeanOfAnApplicationHasANameOfOurs(WebApplicationType type, String property) {
        try (ConfigurableApplicationContext context = new SpringApplicationBuilder(Application.class)
                .web(type)
                .run(
                        property,
                        "--server.port=0",
                        "--server.address=127.0.0.1",
                        "--spring.main.banner-mode=off",
                        "--spring.main.lazy-initialization=true",
                        "--ratelimit.statistics.enabled=true",
                        "--ratelimit.observations.enabled=true",
                        "--ratelimit.limits.quotes.rate=1/s",
                        "--management.endpoints.web.exposure.include=*")) {
            Map<String, String> ours = ours(context.getBeanFactory());
            assertThat(ours)
                    .hasSizeGreaterThan(property.contains("enabled=false") ? 4 : 30)
                    .allSatisfy((name, origin) -> assertThat(name).as(origin).matches(OURS));
            assertThat(ours).doesNotContainKeys(OF_APPLICATIONS.toArray(String[]::new));
            assertThat(context.getBeanNamesForType(RateLimiterRegistry.class)).containsExactly("rateLimitRegistry");
        }
    }

    @Test
    void nameOfResilience4jIsNoneOfOurs() {
        assertThat("rateLimiterRegistry").doesNotMatch(OURS);
    }

    /** Returns the beans by name, with the class that they come from. */
    private static Map<String, String> ours(ConfigurableListableBeanFactory beans) {
        Map<String, String> ours = new TreeMap<>();
        for (String name : beans.getBeanDefinitionNames()) {
            String origin = origin(beans.getBeanDefinition(name));
            if (origin != null && isOurs(origin)) {
                ours.put(name, origin);
            }
        }
        return ours;
    }

    private static @Nullable String origin(BeanDefinition definition) {
        MethodMetadata method =
                definition instanceof AnnotatedBeanDefinition annotated ? annotated.getFactoryMethodMetadata() : null;
        return method == null ? definition.getBeanClassName() : method.getDeclaringClassName();
    }

    /** Not a class of these tests. */
    private static boolean isOurs(String className) {
        return className.startsWith("io.ratelimit.")
                && Objects.equals(
                        codeSource(ClassUtils.resolveClassName(className, null)),
                        codeSource(RateLimitAutoConfiguration.class));
    }

    private static @Nullable Object codeSource(Class<?> type) {
        CodeSource source = type.getProtectionDomain().getCodeSource();
        return source == null ? null : source.getLocation();
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Application {}
}
