package io.ratelimit.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

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
}
