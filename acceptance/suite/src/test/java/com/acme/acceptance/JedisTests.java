package com.acme.acceptance;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.http.HttpResponse;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** A reactive application whose driver is Jedis, which blocks, and which has no Lettuce. */
class JedisTests extends AbstractLimitTests {

    /** More than event loops and threads of the starter together. */
    private static final int CALLS = 128;

    /** At least. Connections take turns. */
    private static final int EVENT_LOOPS = 16;

    JedisTests() {
        super(Application.JEDIS);
    }

    @Test
    void bucketsAreSharedWithApplicationsThatHaveLettuce() {
        allowed("/mono?key=" + key);
        Application.SERVLET.allowed("/mono?key=" + key);
        rejected("mono", "/mono?key=" + key);
        Application.SERVLET.rejected("mono", "/mono?key=" + key);
    }

    @Test
    void permitsOfOtherApplicationsAreAwaited() {
        passPermit(Application.SERVLET, Application.JEDIS);
    }

    @Test
    void otherApplicationsAwaitPermits() {
        passPermit(Application.JEDIS, Application.SERVLET);
    }

    @Test
    void overridesApplyInBothDirections() {
        for (List<Application> pair : List.of(
                List.of(Application.JEDIS, Application.SERVLET), List.of(Application.SERVLET, Application.JEDIS))) {
            String path = "/actuator/ratelimits/changed";
            assertThat(pair.get(0).send("POST", path, "{\"capacity\": 3}").statusCode()).isEqualTo(200);
            awaitCapacity(pair.get(1), 3);
            assertThat(pair.get(0).send("DELETE", path, "").statusCode()).isEqualTo(200);
            awaitCapacity(pair.get(1), 2);
        }
    }

    private static void awaitCapacity(Application application, int capacity) {
        Await.until(
                "capacity " + capacity,
                () -> application.<Integer>json("/actuator/ratelimits/changed", "$.capacity") == capacity);
    }

    @Test
    void noEventLoopWaitsForTheDriver() {
        allowed("/mono?key=" + key);
        Application.redis().pause();
        List<CompletableFuture<HttpResponse<String>>> waiting;
        try {
            waiting = IntStream.range(0, CALLS)
                    .mapToObj(call -> Application.JEDIS.getLater("/mono?key=" + call + key))
                    .toList();
            for (int call = 0; call < EVENT_LOOPS; call++) {
                allowed("/cost?items=100&key=" + key);
            }
            assertThat(waiting).noneMatch(CompletableFuture::isDone);
        } finally {
            Application.redis().resume();
        }
        assertThat(waiting).allSatisfy(call -> assertThat(call.join().statusCode()).isEqualTo(200));
    }

    @Test
    void healthShowsThatLimitsAreShared() {
        Await.until("limits are shared", () -> "shared"
                .equals(Application.JEDIS.<String>json("/actuator/health/ratelimit", "$.details.limits")));
    }

    @Test
    void theStartLogsTheAddress() {
        String port = Application.redis().properties()[1].replaceFirst(".*=", "");
        assertThat(Application.JEDIS.startLog())
                .anySatisfy(line -> assertThat(line).contains("Rate limits are counted in Redis at 127.0.0.1:" + port));
    }
}
