package io.ratelimit.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.testing.LongRunning;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;

/** The same classes with the actuator of Spring Boot 3, which Maven has brought. */
@LongRunning
class SpringBoot3HealthTests {

    private static final Path ACTUATOR = Path.of("target/spring-boot-3/spring-boot-actuator.jar");

    private static final OtherClassPath CLASSES = OtherClassPath.replacing("actuator|spring-boot-health", ACTUATOR);

    @AfterAll
    static void close() throws IOException {
        CLASSES.close();
    }

    @Test
    void isAContributorOfThisName() throws ReflectiveOperationException, IOException {
        assertThat(run()).containsEntry("contributors", List.of("ratelimit")).containsEntry("equal", true);
    }

    @Test
    void limitsAreSharedWhileTheStoreDecides() throws ReflectiveOperationException, IOException {
        assertThat(run()).containsEntry("healthy", Map.of("status", "UP", "details", Map.of("limits", "shared")));
    }

    @Test
    void saysWhatIsWrongWhileTheStoreFails() throws ReflectiveOperationException, IOException {
        Map<String, Object> failing = seen("failing");
        assertThat(failing).containsEntry("status", "UP");
        assertThat(failing.get("details").toString())
                .matches("\\{limits=on-store-failure, failures=\\[\\{reason=timeout, error=Redis: no answer in time,"
                        + " since=[^ ]+Z, calls=1}]}");
    }

    @Test
    void detailsAreLeftOutWhereNobodyMaySeeThem() throws ReflectiveOperationException, IOException {
        assertThat(run()).containsEntry("without details", Map.of("status", "UP", "details", Map.of()));
    }

    @Test
    void isDownIfAsked() throws ReflectiveOperationException, IOException {
        assertThat(seen("failing", "ratelimit.health.store-failure=down")).containsEntry("status", "DOWN");
    }

    @Test
    void isSwitchedOff() throws ReflectiveOperationException, IOException {
        assertThat(run("management.health.ratelimit.enabled=false")).isEqualTo(Map.of("contributors", List.of()));
    }

    @Test
    void isNotThereWhereThereIsNothingToSay() throws ReflectiveOperationException, IOException {
        assertThat(run("ratelimit.store=in-memory")).isEqualTo(Map.of("contributors", List.of()));
    }

    @SuppressWarnings("unchecked")
    private static Map<String, Object> seen(String when, String... properties)
            throws ReflectiveOperationException, IOException {
        return (Map<String, Object>) run(properties).get(when);
    }

    @SuppressWarnings("unchecked")
    private static Map<String, Object> run(String... properties) throws ReflectiveOperationException, IOException {
        assertThat(ACTUATOR).as("brought by Maven in process-test-resources").isRegularFile();
        return (Map<String, Object>) CLASSES.run(SpringBoot3Health.class, properties);
    }
}
