package io.ratelimit.documentation;

import static org.awaitility.Awaitility.await;

import io.ratelimit.testing.LongRunning;
import io.ratelimit.testing.redis.RedisServer;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.assertj.core.api.SoftAssertions;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.boot.WebApplicationType;

/** The record of combinations says how many permits are left after a request, of a limit with each feature. */
@Timeout(600)
@LongRunning
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class RequestEventTests {

    private static final EventTable TABLE = EventTable.of("left after a request");

    /** What only a servlet container has. */
    private static final List<String> DISPATCHES = List.of("forward", "include", "async");

    /** What is released or settled at the end of a request, in the background. */
    private static final List<String> SETTLED = List.of("concurrency", "permitsAfter", "refundOn");

    private final RedisServer further = new RedisServer();

    private final Map<String, RequestStage> stages = new TreeMap<>();

    @BeforeAll
    void start() throws Exception {
        stages.put("tomcat, redis", new RequestStage(WebApplicationType.SERVLET, further));
        stages.put("tomcat, in-memory", new RequestStage(WebApplicationType.SERVLET, null));
        stages.put("netty, redis", new RequestStage(WebApplicationType.REACTIVE, further));
        stages.put("netty, in-memory", new RequestStage(WebApplicationType.REACTIVE, null));
    }

    @AfterAll
    void stop() {
        stages.values().forEach(RequestStage::close);
        further.close();
    }

    @Test
    void tableHasEachFeature() {
        TABLE.assertHasEachFeature();
    }

    static Stream<Arguments> events() {
        return TABLE.events().stream()
                .flatMap(event -> Stream.of("tomcat, redis", "tomcat, in-memory", "netty, redis", "netty, in-memory")
                        .filter(stage -> stage.startsWith("tomcat") || !DISPATCHES.contains(event))
                        .map(stage -> Arguments.of(event, stage)));
    }

    @ParameterizedTest(name = "{0}, {1}")
    @MethodSource("events")
    void requestLeavesWhatTheRecordSays(String event, String name) throws Exception {
        RequestStage stage = stages.get(name);
        String key = "after-" + event;
        Map<String, String> expected = TABLE.column(event);
        expected.keySet().removeIf(feature -> !stage.has(feature));
        for (String feature : expected.keySet()) {
            stage.take(feature, key, event);
        }
        stage.awaitEnd();
        for (String feature : SETTLED) {
            long left = Long.parseLong(expected.get(feature));
            await(feature).until(() -> stage.limits().remaining(feature, key), remaining -> remaining >= left);
        }
        SoftAssertions soft = new SoftAssertions();
        expected.forEach((feature, left) -> soft.assertThat(stage.limits().admitted(feature, key))
                .as(feature)
                .isEqualTo(Long.parseLong(left)));
        soft.assertAll();
    }
}
