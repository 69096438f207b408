package io.ratelimit.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ratelimit.annotation.RateLimited;
import io.ratelimit.testing.LongRunning;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import org.assertj.core.api.AbstractThrowableAssert;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.condition.JRE;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** Applications that Spring has processed ahead of time limit the same calls. */
@LongRunning
class AotTests {

    private static final String[] AT_BUILD = {
        "--spring.main.web-application-type=none",
        "--spring.main.banner-mode=off",
        "--ratelimit.limits.configured.rate=1/h"
    };

    private static final String POINTCUT =
            "--ratelimit.limits.configured.pointcut=execution(* io.ratelimit.autoconfigure.AotApplication.Matched.*(..))";

    private static final String IN_MEMORY = "--ratelimit.store=in-memory";

    private static final String NATIVE_IMAGE = "org.graalvm.nativeimage.imagecode";

    @TempDir
    private static Path directory;

    @TempDir
    private Path other;

    private static Path processed;

    @BeforeAll
    static void process() {
        processed = AotProcessing.of(AotApplication.class, directory, with(AT_BUILD, POINTCUT, IN_MEMORY))
                .classes();
    }

    private static String[] with(String[] some, String... more) {
        return Stream.of(some, more).flatMap(Stream::of).toArray(String[]::new);
    }

    private static Object start(String... arguments) throws Exception {
        // Anew for each: Spring asks once whether it is in a native image.
        try (OtherClassPath classes = OtherClassPath.with(processed)) {
            return classes.run(AotApplication.class, with(AT_BUILD, arguments));
        }
    }

    @Test
    void limitsApply() throws Exception {
        assertThat(start(IN_MEMORY, POINTCUT, "--quotes.rate=1/h")).isEqualTo(List.of());
    }

    @Test
    void limitsThatAreOffAtStartUpOnlyStopIt() {
        assertFails(IN_MEMORY, "--ratelimit.enabled=false")
                .hasMessageContaining(
                        "ratelimit.enabled must be true as when AOT processing chose the beans (was false).");
    }

    @Test
    void anotherStoreStopsTheStartUp() {
        assertFails("--ratelimit.store=redis")
                .hasMessageContaining(
                        "ratelimit.store must be in-memory as when AOT processing chose the beans (was redis).");
    }

    @Test
    void urlRulesThatAreSetAtStartUpOnlyStopIt() {
        assertFails(
                        IN_MEMORY,
                        POINTCUT,
                        "--quotes.rate=1/h",
                        "--ratelimit.http[0].path=/quotes",
                        "--ratelimit.http[0].limit=configured")
                .hasMessageContaining(
                        "ratelimit.http must be empty if it was when AOT processing chose the beans (was [/quotes]).");
    }

    @Test
    void invalidNumbersAndExpressionsStopTheStartUpAndNotTheBuild() {
        String mistake = "--ratelimit.limits.expressions.rate=often";
        AotProcessing.of(AotApplication.class, other, with(AT_BUILD, IN_MEMORY, mistake));

        assertFails(IN_MEMORY, POINTCUT, "--quotes.rate=1/h", mistake)
                .hasMessage("rate must be permits per period (was \"often\")");
        assertFails(IN_MEMORY, POINTCUT, "--quotes.rate=1/h", "--ratelimit.limits.expressions.key-expression=#usr")
                .hasMessageContaining("names #usr");
    }

    @Test
    void methodThatNoProxyCanInterceptStopsTheBuild() {
        assertThatThrownBy(() -> AotProcessing.of(OfPrivateMethod.class, other, with(AT_BUILD, IN_MEMORY)))
                .rootCause()
                .hasMessageContaining("must apply to methods that a proxy can intercept");
    }

    /** Spring creates no proxy classes then, and uses those of the build. */
    @Test
    @EnabledForJreRange(min = JRE.JAVA_25, disabledReason = "Spring Boot refuses native images of earlier versions")
    void limitsApplyWithTheProxiesOfANativeImage() throws Exception {
        Object unlimited = inNativeImage(() -> start(IN_MEMORY, "--quotes.rate=1/h"));

        assertThat(unlimited).isEqualTo(List.of("configured"));
    }

    @Test
    @EnabledForJreRange(min = JRE.JAVA_25, disabledReason = "Spring Boot refuses native images of earlier versions")
    void pointcutsAreRefusedInANativeImage() {
        assertThatThrownBy(() -> inNativeImage(() -> start(IN_MEMORY, POINTCUT, "--quotes.rate=1/h")))
                .rootCause()
                .hasMessageContaining("ratelimit.limits.configured.pointcut must be empty in a native image");
    }

    /** Lets Spring, which is loaded anew, believe that it runs in one. Its reflection is not restricted. */
    private static Object inNativeImage(Callable<Object> start) throws Exception {
        System.setProperty(NATIVE_IMAGE, "runtime");
        try {
            return start.call();
        } finally {
            System.clearProperty(NATIVE_IMAGE);
        }
    }

    /** The exception's class is of another class loader. */
    private static AbstractThrowableAssert<?, ?> assertFails(String... arguments) {
        return assertThatThrownBy(() -> start(arguments)).rootCause();
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class OfPrivateMethod {

        @Bean
        PrivateMethod privateMethod() {
            return new PrivateMethod();
        }

        public static void main(String[] arguments) {
            SpringApplication.run(OfPrivateMethod.class, arguments);
        }
    }

    static class PrivateMethod {

        @RateLimited(rate = "1/h")
        @SuppressWarnings("unused")
        private void limited() {}
    }
}
