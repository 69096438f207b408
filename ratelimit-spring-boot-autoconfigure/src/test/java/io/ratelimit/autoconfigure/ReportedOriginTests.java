package io.ratelimit.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.ratelimit.annotation.RateLimited;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;

/** The whole report of a wrong value in {@code application.yml}: where, file and line, property, rule, value and fix. */
@ExtendWith(OutputCaptureExtension.class)
class ReportedOriginTests {

    private static final String RATES =
            "Write it like \"10/s\", \"100/m\", \"1000/h\", \"5/10s\", \"3/500ms\", \"1/PT1M\" or \"10000/month\".";

    @TempDir
    private Path directory;

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            often         | must be permits per period (was "often").         |
            10 per minute | must be permits per period (was "10 per minute"). | 'Did you mean "10/m"? '
            0/s           | must have at least 1 permit (was "0/s").          |
            """)
    void rate(String rate, String problem, String suggestion, CapturedOutput output) throws IOException {
        String fix = (suggestion == null ? "" : suggestion) + RATES;
        assertThat(report("limits:\n    quotes:\n      rate: " + rate, output))
                .isEqualTo("""
                Where: %s.quote()
                Origin: application.yml - 5:13
                What: ratelimit.limits.quotes.rate %s

                Action:

                %s
                """.formatted(Quotes.class.getName(), problem, fix));
    }

    @Test
    void defaultRateThatNoLimitNeeds(CapturedOutput output) throws IOException {
        assertThat(report("defaults:\n    rate: 10 per minute", output)).isEqualTo("""
                Origin: application.yml - 4:11
                What: ratelimit.defaults.rate must be permits per period (was "10 per minute").

                Action:

                Did you mean "10/m"? %s
                """.formatted(RATES));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            max-wait: 5x | 15 | max-wait must be a duration (was "5x"). | Write it like "500ms", "2s" or "PT2S".
            maxWait: 5x  | 14 | max-wait must be a duration (was "5x"). | Write it like "500ms", "2s" or "PT2S".
            block-for: 1m, 5x | 16 | block-for must be a duration (was "1m, 5x"). | Write it like "500ms", "2s" or "PT2S".
            refund-on: com.acme.Nope | 16 | refund-on must name classes on the class path (was "com.acme.Nope"). | Name exceptions of the method in full, such as java.io.IOException.
            refund-on: [java.io.IOException, IOExeption] | 38 | refund-on[1] must name classes on the class path (was "IOExeption"). | Name exceptions of the method in full, such as java.io.IOException.
            refund-on: java.lang.String | 16 | refund-on must name subclasses of Throwable (was java.lang.String). | Name exceptions of the method, such as java.io.IOException.
            algorithm: token-buket | 16 | algorithm must be a known value (was "token-buket"). | Did you mean TOKEN_BUCKET? Known values: TOKEN_BUCKET, LEAKY_BUCKET, FIXED_WINDOW, SLIDING_WINDOW, SLIDING_WINDOW_LOG, CONCURRENCY.
            dry-run: maybe | 14 | dry-run must be true or false (was "maybe"). | Write true or false.
            lease: many | 12 | lease must be a whole number within the range of Long (was "many"). | Write it in digits.
            """)
    void valueOfTheWrongType(String property, int column, String problem, String fix, CapturedOutput output)
            throws IOException {
        assertThat(report("defaults:\n    " + property, output))
                .isEqualTo(expected("4:" + column, "ratelimit.defaults." + problem, fix));
    }

    @ParameterizedTest
    @CsvSource({"max-wait: 5x, 17, max-wait must be a duration", "capacity: many, 17, capacity must be a whole number"})
    void valueOfTheWrongTypeForOneLimit(String property, int column, String problem, CapturedOutput output)
            throws IOException {
        assertThat(report("limits:\n    quotes:\n      " + property, output))
                .startsWith(
                        "Origin: application.yml - 5:%d\nWhat: ratelimit.limits.quotes.%s".formatted(column, problem));
    }

    private static String expected(String origin, String problem, String fix) {
        return """
                Origin: application.yml - %s
                What: %s

                Action:

                %s
                """.formatted(origin, problem, fix);
    }

    /** Starts an application with these properties, and returns its report, from the second paragraph on. */
    private String report(String properties, CapturedOutput output) throws IOException {
        Path file = Files.writeString(
                directory.resolve("application.yml"), "ratelimit:\n  store: in-memory\n  " + properties + "\n");
        SpringApplication application = new SpringApplication(Application.class);
        application.setWebApplicationType(WebApplicationType.NONE);
        assertThat(catchThrowable(() -> application.run("--spring.config.location=" + file.toUri())))
                .isNotNull();
        String start = "Description:\n\nThe configuration of the rate limits is invalid.\n\n";
        String log = output.toString().replace(System.lineSeparator(), "\n");
        assertThat(log).contains("APPLICATION FAILED TO START", start);
        return log.substring(log.indexOf(start) + start.length())
                .replace("URL [" + file.toFile().toURI() + "]", "application.yml")
                .replaceFirst("\n+$", "\n");
    }

    @Configuration(proxyBeanMethods = false)
    @ImportAutoConfiguration(RateLimitAutoConfiguration.class)
    @Import(Quotes.class)
    static class Application {}

    static class Quotes {

        @RateLimited(name = "quotes", rate = "1/s")
        public void quote() {}
    }
}
