package io.ratelimit.standalone;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitConfigurationException;
import io.ratelimit.RateLimiterRegistry;
import java.io.File;
import java.net.URISyntaxException;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RateLimitersTests {

    private static final RateLimit QUOTES =
            RateLimit.named("quotes").capacity(2).rate("2/m").build();

    @Test
    void limitsCountInMemory() {
        RateLimiterRegistry limits = RateLimiters.inMemory(QUOTES);
        assertThat(limits.get("quotes").tryAcquire("alice", 2).allowed()).isTrue();
        assertThat(limits.get("quotes").tryAcquire("alice").allowed()).isFalse();
        assertThat(limits.get("quotes").tryAcquire("bob").allowed()).isTrue();
    }

    @Test
    void twoLimitsOfOneNameAreRefused() {
        RateLimit other = RateLimit.named("quotes").rate("1/s").build();
        assertThatExceptionOfType(RateLimitConfigurationException.class)
                .isThrownBy(() -> RateLimiters.inMemory(QUOTES, other))
                .withMessageContaining("limit 2")
                .withMessageContaining("name 'quotes'");
    }

    /** The class path is the core, JSpecify, and the program. */
    @Test
    void programNeedsTheCoreAlone(@TempDir Path directory) throws Exception {
        Path output = directory.resolve("output");
        Process program = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-cp",
                        String.join(
                                File.pathSeparator,
                                location(RateLimiters.class),
                                location(NullMarked.class),
                                location(InMemoryMain.class)),
                        InMemoryMain.class.getName())
                .redirectErrorStream(true)
                .redirectOutput(output.toFile())
                .start();
        try {
            assertThat(program.waitFor(1, TimeUnit.MINUTES)).isTrue();
        } finally {
            program.destroyForcibly();
        }
        assertThat(output).hasContent("true\ntrue\nfalse");
        assertThat(program.exitValue()).isZero();
    }

    private static String location(Class<?> type) throws URISyntaxException {
        return Path.of(type.getProtectionDomain().getCodeSource().getLocation().toURI())
                .toString();
    }
}
