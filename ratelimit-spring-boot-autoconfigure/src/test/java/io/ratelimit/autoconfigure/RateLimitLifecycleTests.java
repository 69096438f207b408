package io.ratelimit.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.autoconfigure.RateLimitLifecycle.Part;
import io.ratelimit.autoconfigure.RateLimitLifecycle.Stage;
import io.ratelimit.autoconfigure.actuate.RateLimitStatisticsAutoConfiguration;
import io.ratelimit.testing.redis.SharedRedis;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.SmartLifecycle;

/** One bean starts and stops all parts of the starter, in one order. */
class RateLimitLifecycleTests {

    /** The phase of a web server that ends its requests. */
    private static final int GRACEFUL_SHUTDOWN = SmartLifecycle.DEFAULT_PHASE - 1024;

    private final List<String> said = new ArrayList<>();

    private RateLimitLifecycle lifecycle(Part... others) {
        List<Part> parts = new ArrayList<>(List.of(others));
        for (Stage stage : Stage.values()) {
            parts.add(new Part(stage, () -> said.add("start " + stage), () -> said.add("stop " + stage)));
        }
        Collections.reverse(parts);
        return new RateLimitLifecycle(parts);
    }

    @Test
    void figuresMessagesAndConnectionsEndOneAfterTheOther() {
        RateLimitLifecycle lifecycle = lifecycle();
        lifecycle.start();
        assertThat(said)
                .containsExactly("start EVENTS", "start REDIS", "start MESSAGES", "start FIGURES", "start OVERRIDES");
        said.clear();
        lifecycle.stop();
        lifecycle.destroy();
        assertThat(said)
                .containsExactly("stop OVERRIDES", "stop FIGURES", "stop MESSAGES", "stop REDIS", "stop EVENTS");
    }

    @Test
    void partThatCannotStopKeepsNoOtherRunning() {
        RateLimitLifecycle lifecycle = lifecycle(new Part(Stage.FIGURES, () -> {}, () -> {
            throw new IllegalStateException("expected");
        }));
        lifecycle.start();
        lifecycle.stop();
        assertThat(said).contains("stop FIGURES", "stop EVENTS");
        assertThat(lifecycle.isRunning()).isFalse();
    }

    /** As a start-up of the context that fails in a later bean, and one that fails in a part. */
    @Test
    void partsThatHaveStartedStopIfTheStartUpFails() {
        RateLimitLifecycle failing = lifecycle(new Part(
                Stage.MESSAGES,
                () -> {
                    throw new IllegalStateException("expected");
                },
                () -> {}));
        try {
            failing.start();
        } catch (IllegalStateException ex) {
            failing.destroy();
        }
        assertThat(said).contains("stop REDIS", "stop EVENTS").doesNotContain("stop FIGURES");
    }

    @Test
    void contextStartsAndStopsAllPartsByOneBean() {
        new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(
                        RateLimitAutoConfiguration.class, RateLimitStatisticsAutoConfiguration.class))
                .withPropertyValues(
                        "ratelimit.redis.host=" + SharedRedis.get().host(),
                        "ratelimit.redis.port=" + SharedRedis.get().port(),
                        "ratelimit.statistics.enabled=true")
                .run(context -> {
                    assertThat(context.getBeansOfType(SmartLifecycle.class).values())
                            .filteredOn(bean -> bean.getClass().getName().startsWith("io.ratelimit"))
                            .singleElement()
                            .isInstanceOfSatisfying(
                                    RateLimitLifecycle.class,
                                    lifecycle -> assertThat(lifecycle.getPhase())
                                            .isPositive()
                                            .isLessThan(GRACEFUL_SHUTDOWN));
                    assertThat(context.getBeansOfType(Part.class).values())
                            .extracting(Part::stage)
                            .containsExactlyInAnyOrderElementsOf(Arrays.asList(Stage.values()));
                });
    }
}
