package io.ratelimit.sample;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.http.HttpStatus;
import redis.embedded.RedisServer;

/** On Windows, for which there is no redis-server, the sample counts in memory, and says so. */
@ExtendWith(OutputCaptureExtension.class)
class WindowsTests {

    private static final String WINDOWS = "os.name=Windows 11";

    private static final String SAID = "The sample has no redis-server for Windows 11, so it counts in memory.";

    @Test
    void countsInMemoryAndSaysSo(CapturedOutput log) {
        try (Sample sample = Sample.start(WINDOWS)) {
            assertThat(sample.beans(RedisServer.class)).isEmpty();
            assertStore(sample, "in-memory");
            for (int i = 0; i < 3; i++) {
                sample.login("alice").expectStatus().isOk();
            }
            sample.login("alice").expectStatus().isEqualTo(HttpStatus.TOO_MANY_REQUESTS);
            sample.get("/actuator/health").expectStatus().isOk();
        }
        assertThat(log.getOut().lines().filter(line -> line.contains(SAID))).hasSize(1);
    }

    @Test
    void countsInTheRedisThatIsNamed(CapturedOutput log) {
        try (Sample sample = Sample.startOnSharedRedis(Sample.newKeyPrefix(), WINDOWS)) {
            assertThat(sample.beans(RedisServer.class)).isEmpty();
            assertStore(sample, "redis");
        }
        assertThat(log.getOut()).doesNotContain(SAID);
    }

    private static void assertStore(Sample sample, String kind) {
        sample.get("/actuator/ratelimits").expectBody().jsonPath("$.store.kind").isEqualTo(kind);
    }
}
