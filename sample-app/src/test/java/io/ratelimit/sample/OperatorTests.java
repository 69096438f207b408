package io.ratelimit.sample;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.time.Duration;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Two instances share a Redis; what an operator changes on one is in force on the other. */
class OperatorTests {

    private static final String QUOTES = "/actuator/ratelimits/quotes";

    /** At once, unless the machine is busy. */
    private static final Duration SOON = Duration.ofSeconds(30);

    /** As long as an instance remembers a rejection that nothing ends. */
    private static final Duration REMEMBERED = Duration.ofSeconds(1);

    private static final Duration POLL = Duration.ofMillis(10);

    private static Sample one;

    private static Sample other;

    @BeforeAll
    static void start() {
        String prefix = Sample.newKeyPrefix();
        one = start(prefix);
        other = start(prefix);
    }

    /** No permit comes back while a test runs. */
    private static Sample start(String prefix) {
        return Sample.startOnSharedRedis(
                prefix,
                "ratelimit.limits.quotes.rate=1/h",
                "ratelimit.limits.reports.capacity=100000",
                "ratelimit.limits.reports.lease=10000");
    }

    @AfterAll
    static void stop() {
        one.close();
        other.close();
    }

    @Test
    void limitIsChangedOnBoth() {
        one.post(QUOTES, "{\"capacity\": 50, \"duration\": \"1h\"}")
                .expectStatus()
                .isOk();
        await().pollInterval(POLL)
                .untilAsserted(() ->
                        other.get(QUOTES).expectBody().jsonPath("$.capacity").isEqualTo(50));
        one.delete(QUOTES).expectStatus().isOk();
        await().pollInterval(POLL)
                .untilAsserted(() ->
                        other.get(QUOTES).expectBody().jsonPath("$.capacity").isEqualTo(5));
    }

    /** The other instance has leased more permits than it is asked for here when the key is blocked. */
    @Test
    void blockedKeyIsRejectedByBothUntilItIsUnblocked() {
        String reports = "/actuator/ratelimits/reports?key=mallory";
        for (int call = 0; call < 5; call++) {
            assertThat(reportStatus(other)).isEqualTo(200);
        }
        one.post(reports, "{\"blockFor\": \"10m\"}").expectStatus().isOk();
        assertThat(reportStatus(one)).isEqualTo(429);
        await().atMost(SOON).pollInterval(POLL).until(() -> reportStatus(other) == 429);

        one.post(reports, "{\"unblock\": true}").expectStatus().isOk();
        await().atMost(SOON).pollInterval(POLL).until(() -> reportStatus(other) == 200);
    }

    private static int reportStatus(Sample sample) {
        return sample.report("mallory", 1).returnResult().getStatus().value();
    }

    /** The other instance has remembered the rejection when permits are granted, and is told before that ends by itself. */
    @Test
    void grantAndResetEndARememberedRejectionOfTheOther() {
        awaitTold(
                "grace",
                () -> one.post(QUOTES + "?key=grace", "{\"grant\": 3}")
                        .expectStatus()
                        .isOk());
        awaitTold(
                "grace", () -> one.delete(QUOTES + "?key=grace").expectStatus().isOk());
    }

    /** On a busy machine a message may come too late. */
    private static void awaitTold(String user, Runnable change) {
        await("a message about " + user).atMost(SOON).until(() -> {
            long before;
            do {
                before = System.nanoTime();
            } while (status(other, user) != 429);
            change.run();
            boolean admitted;
            do {
                admitted = status(other, user) == 200;
            } while (!admitted && System.nanoTime() - before < REMEMBERED.toNanos());
            return System.nanoTime() - before < REMEMBERED.toNanos();
        });
    }

    private static int status(Sample sample, String user) {
        return sample.quote(user).returnResult().getStatus().value();
    }
}
