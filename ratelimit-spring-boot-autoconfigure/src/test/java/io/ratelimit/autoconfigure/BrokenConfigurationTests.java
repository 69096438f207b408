package io.ratelimit.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.ratelimit.annotation.RateLimited;
import io.ratelimit.autoconfigure.properties.RateLimitProperties;
import io.ratelimit.testing.LongRunning;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.context.properties.ConfigurationPropertiesBinding;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.convert.converter.Converter;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

/** What the console shows when a web application starts with a mistake in application.yml. */
@ExtendWith(OutputCaptureExtension.class)
@LongRunning
class BrokenConfigurationTests {

    @TempDir
    private Path directory;

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "key-expression: #tenant | ratelimit.limits.quotes.key-expression must not be empty.",
                "key-expression: '' | ratelimit.limits.quotes.key-expression must not be empty.",
                "keyExpression: '  ' | ratelimit.limits.quotes.key-expression must not be empty.",
                "permits: #cost | ratelimit.limits.quotes.permits must not be empty.",
                "condition: #tenant != null | ratelimit.limits.quotes.condition must not be empty.",
                "rate: | ratelimit.limits.quotes.rate must not be empty.",
                "capacity: | ratelimit.limits.quotes.capacity must not be empty.",
                "pointcut: ' ' | ratelimit.limits.quotes.pointcut must not be empty.",
                "max-wait: | ratelimit.limits.quotes.max-wait must not be empty.",
                "capacity: 0 | ratelimit.limits.quotes.capacity must be from 1 to 1000000000 for TOKEN_BUCKET at the rate 10/s (was 0).",
            })
    void valueThatSaysNothingStopsTheStartUp(String property, String problem, CapturedOutput output)
            throws IOException {
        start("""
                ratelimit:
                  limits.quotes:
                    %s
                """.formatted(property.replace("'", "\"")));
        assertThat(output)
                .contains("APPLICATION FAILED TO START")
                .contains("What: " + problem)
                .contains("application.yml] - 3:");
    }

    @Test
    void emptyKeyExpressionIsToBeQuotedOrSaidInAWord(CapturedOutput output) throws IOException {
        start("""
                ratelimit:
                  limits:
                    quotes:
                      key-expression: #tenant
                """);
        assertThat(output)
                .contains("In YAML, an unquoted # starts a comment. Quote the expression: \"#tenant\".")
                .contains("For one bucket that all callers share, write all-callers.");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "stoer: in-memory | Did you mean ratelimit.store?",
                "limits.quotes.capasity: 5 | Did you mean ratelimit.limits.quotes.capacity?",
                "limits.quotes.capacity: many | ratelimit.limits.quotes.capacity must be a whole number within the range of Long (was \"many\").",
                "limits.quotes.capacity: 2.5 | ratelimit.limits.quotes.capacity must be a whole number within the range of Long (was \"2.5\").",
                "in-memory.max-keys: 10.9 | ratelimit.in-memory.max-keys must be a whole number within the range of",
                "limits.quotes.refund-on: java.lang.String | must name subclasses of Throwable (was java.lang.String)",
                "in-memory.max-keys: 0 | ratelimit.in-memory.max-keys",
                "limits.quotes.rate: ${nope}/s | ratelimit.limits.quotes.rate must not have an unresolved placeholder (was \"${nope}/s\").",
                "limits.quotes.rate: ${nope}/s | Set the property nope, or give the placeholder a default: ${nope:…}.",
                "redis.key-prefix: ${spring.application.name} | Set the property spring.application.name, or give",
                "limits.quotes: 5/s | ratelimit.limits.quotes must not have a value, but properties below it (was \"5/s\").",
                "limits.quotes: 10 | ratelimit.limits.quotes must not have a value, but properties below it (was \"10\").",
                "limits.capacity: 1.5 | ratelimit.limits.capacity must not have a value, but properties below it (was \"1.5\").",
                "limits: 10 | Under ratelimit.limits there are the names of limits, each with properties such as rate.",
                "redis: true | ratelimit.redis must not have a value, but properties below it (was \"true\").",
                "http: false | ratelimit.http must not have a value, but properties below it (was \"false\").",
                "limits.quotes.rate: {permits: 10} | ratelimit.limits.quotes.rate takes a single value.",
                "limits.quotes.rate: [10/s] | ratelimit.limits.quotes.rate takes a single value.",
                "store: {type: redis} | ratelimit.store takes a single value.",
                "limits.quotes.refund-on: [{type: java.io.IOException}] | ratelimit.limits.quotes.refund-on[0] takes a single value.",
                "limits: [{quotes: {rate: 5/s}}] | ratelimit.limits is not a list: in YAML, write the names of limits without",
                "http: {path: /api/**, limit: quotes} | ratelimit.http is a list: in YAML, write a dash before each",
                "http: /api/** | ratelimit.http must not have a value, but properties below it (was \"/api/**\").",
                "http: [{path: /api/**}] | application.yml] - 2:",
                "redis.timeout: 0 | ratelimit.redis.timeout must be positive (was 0s).",
                "http: [{path: /quotes}] | ratelimit.http[0].limit must be set",
            })
    void reportOfAMistakeIsTheOnlyError(String mistake, String message, CapturedOutput output) throws IOException {
        start("ratelimit:%n  %s%n".formatted(mistake));
        assertThat(output).contains(message).doesNotContain("Tomcat", "UnsatisfiedDependencyException");
        assertThat(output.getAll().lines().filter(line -> line.contains(" ERROR ")))
                .hasSize(1);
    }

    @Test
    void whatSaysNothingOfAnyPropertyIsNoMistake() throws IOException {
        for (String harmless :
                List.of("", "  limits:", "  limits.quotes:", "  limits.quotes.refund-on: []", "  http: []")) {
            assertThat(run("ratelimit:%n%s%n".formatted(harmless))).as(harmless).isNull();
        }
    }

    @Test
    void applicationMayConvertPropertiesItself() {
        LimitedContexts.inMemory()
                .withBean(SoonConverter.class)
                .withPropertyValues("ratelimit.redis.timeout=soon")
                .run(context -> assertThat(context.getBean(RateLimitProperties.class)
                                .redis()
                                .timeout())
                        .isEqualTo(Duration.ofSeconds(1)));
    }

    private void start(String yaml) throws IOException {
        assertThat(run(yaml)).isNotNull();
    }

    private @Nullable Throwable run(String yaml) throws IOException {
        Files.writeString(directory.resolve("application.yml"), yaml);
        SpringApplication application = new SpringApplicationBuilder(Web.class)
                .properties(
                        "server.port=0",
                        "server.address=127.0.0.1",
                        "ratelimit.store=in-memory",
                        "spring.config.location=file:" + directory + "/")
                .build();
        return catchThrowable(() -> {
            try (ConfigurableApplicationContext started = application.run()) {
                assertThat(started.isActive()).isTrue();
            }
        });
    }

    @ConfigurationPropertiesBinding
    static class SoonConverter implements Converter<String, Duration> {

        @Override
        public Duration convert(String source) {
            return Duration.ofSeconds(1);
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Web {

        @Bean
        Quotes quotes() {
            return new Quotes();
        }
    }

    @RestController
    static class Quotes {

        @GetMapping("/quotes")
        @RateLimited(name = "quotes", capacity = 20, rate = "10/s", keyExpression = "#tenant")
        public String quote(String tenant) {
            return "for " + tenant;
        }
    }
}
