package io.ratelimit.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.assertj.core.api.AbstractThrowableAssert;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Applications that Spring has processed ahead of time limit the same calls. */
class AotTests {

    private static final String[] AT_BUILD = {
        "--spring.main.web-application-type=none",
        "--spring.main.banner-mode=off",
        "--ratelimit.limits.configured.rate=1/h",
        "--ratelimit.limits.configured.pointcut=execution(* io.ratelimit.autoconfigure.AotApplication.Matched.*(..))"
    };

    @TempDir
    private static Path directory;

    private static OtherClassPath processed;

    @BeforeAll
    static void process() {
        processed = OtherClassPath.with(
                AotProcessing.of(AotApplication.class, directory, with(AT_BUILD, "--ratelimit.store=in-memory"))
                        .classes());
    }

    private static String[] with(String[] some, String... more) {
        return Stream.of(some, more).flatMap(Stream::of).toArray(String[]::new);
    }

    private static Object start(String... arguments) throws Exception {
        return processed.run(AotApplication.class, with(AT_BUILD, arguments));
    }

    @Test
    void limitsApply() throws Exception {
        assertThat(start("--ratelimit.store=in-memory", "--quotes.rate=1/h")).isEqualTo(List.of());
    }

    @Test
    void limitsThatAreOffAtStartUpOnlyStopIt() {
        assertFails("--ratelimit.enabled=false", "--ratelimit.store=in-memory")
                .hasMessageContaining(
                        "ratelimit.enabled must be true as when AOT processing chose the beans (was false).");
    }

    @Test
    void anotherStoreStopsTheStartUp() {
        assertFails("--ratelimit.store=redis")
                .hasMessageContaining(
                        "ratelimit.store must be in-memory as when AOT processing chose the beans (was redis).");
    }

    /** The exception's class is of another class loader. */
    private static AbstractThrowableAssert<?, ?> assertFails(String... arguments) {
        return assertThatThrownBy(() -> start(arguments)).rootCause();
    }
}
