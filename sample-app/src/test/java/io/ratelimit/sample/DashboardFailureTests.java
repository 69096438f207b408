package io.ratelimit.sample;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.sample.browser.Browser;
import io.ratelimit.testing.LongRunning;
import io.ratelimit.testing.redis.RedisServer;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.http.HttpStatus;

/** What the dashboard shows while an instance or a Redis fails. */
@LongRunning
class DashboardFailureTests extends DashboardOperator {

    @BeforeEach
    void open() {
        browser = Browser.get();
    }

    @Test
    void anInstanceThatStopsIsMissedAndFoundAgain() {
        Sample sample = start();
        try (sample) {
            browser.open(sample.url("/ratelimits"));
            awaitLive();
        }
        browser.await("the page says so", () -> browser.text("#problem-title").equals("The instance does not answer"));
        assertThat(browser.text("#connection-text")).startsWith("No figures since");
        assertThat(browser.text("#problem-text")).contains("has not answered since", "Next try");
        assertThat(browser.isShown("[data-limit=quotes]")).isTrue();

        Sample again = start("server.port=" + sample.port());
        try (again) {
            // Hidden as soon as the page has tried again by itself.
            browser.clickIfShown("#retry");
            awaitLive();
            assertThat(browser.isShown("#problem")).isFalse();
        }
    }

    @Test
    void killedInstanceIsNamed() {
        try (RedisServer redis = RedisServer.loadingAtOnce();
                Sample sample = Sample.startOn(redis)) {
            long seen = ChronoUnit.MICROS.between(Instant.EPOCH, Instant.now().minusSeconds(60));
            redis.send(
                    "HSET",
                    "ratelimit:{%statistics}:instances",
                    "killed",
                    seen + " 1 " + seen + " shared - 7%40pod-a\n");
            browser.open(sample.url("/ratelimits"));
            browser.await("it is missed", () -> browser.text("#store-title").equals("1 instance is not heard"));
            assertThat(browser.text("#store-text")).startsWith("7@pod-a was killed, or cannot reach Redis.");
            assertThat(browser.text("#total-instances")).isEqualTo("1");
            assertThat(browser.text("#total-shared")).isEqualTo("share the limits, 1 not heard");
            assertThat(browser.text("#instances")).contains("not heard: killed, or without Redis");
        }
    }

    /** The store fails: what it does to the limits, to the figures and to the callers. */
    @Test
    void refusedCallsAndTheFailureOfTheStoreAreShown() {
        try (RedisServer redis = RedisServer.loadingAtOnce();
                Sample sample = Sample.startOn(
                        redis, "ratelimit.redis.timeout=1s", "ratelimit.limits.quotes.on-store-failure=reject");
                Sample another = Sample.startOn(redis, "ratelimit.redis.timeout=1s")) {
            another.login("bob").expectStatus().isOk();
            browser.open(sample.url("/ratelimits"));
            browser.await(
                    "two instances share the limits",
                    () -> browser.text("#store-title").equals("Shared by all instances")
                            && browser.text("#total-instances").equals("2"));
            redis.kill();
            for (int call = 0; call < 3; call++) {
                sample.quote("alice").expectStatus().isEqualTo(HttpStatus.SERVICE_UNAVAILABLE);
                sample.login("alice").expectStatus().isOk();
            }
            browser.await(
                    "the page says so",
                    () -> browser.text("#store-title").equals("Limits are not shared: Redis fails"));
            assertThat(browser.text("#store-text"))
                    .contains("Reason: ", "since", "those of this instance alone", "the other instances do is unknown");
            browser.await(
                    "the other instance is not forgotten",
                    () -> browser.text("#total-shared").equals("one on its own, others unknown"));
            assertThat(browser.text("#total-instances")).isEqualTo("2");
            assertThat(browser.text("#instances")).contains("unknown, nothing heard");
            browser.await(
                    "the limit refuses",
                    () -> browser.text("[data-limit=quotes] .state").startsWith("Refusing"));
            assertThat(browser.text("[data-limit=quotes] .state")).contains("calls are refused");
            assertThat(browser.text("[data-limit=login] .state"))
                    .startsWith("Not shared")
                    .contains("each instance limits alone");
            openLimit("quotes");
            browser.await(
                    "the refused calls are counted",
                    () -> browser.text("[data-series=refused]").contains("3 in the last minute"));
            browser.await(
                    "they are drawn", () -> browser.find("#chart .line.refused").getAttribute("d") != null);
            assertThat(browser.text("#chart-title")).isEqualTo("Calls per second, this instance");

            redis.restart();
            browser.await(
                    "the limits are shared again",
                    () -> browser.text("#store-title").equals("Shared by all instances"));
        }
    }

    /** One of two servers fails: which, since when, and what it does to which limits. */
    @Test
    void theRedisServerThatFailsIsNamedWithItsLimits() {
        try (RedisServer eu = RedisServer.loadingAtOnce();
                Sample sample = start(
                        "ratelimit.redis.eu.url=redis://127.0.0.1:" + eu.port(),
                        "ratelimit.redis.eu.timeout=1s",
                        "ratelimit.limits.quotes.redis=eu",
                        "ratelimit.limits.quotes.on-store-failure=reject",
                        "ratelimit.limits.search.redis=EU")) {
            browser.open(sample.url("/ratelimits"));
            browser.await(
                    "the limits are shared",
                    () -> browser.text("#store-text").equals("Permits are counted in 2 Redis servers."));
            assertThat(browser.isShown("#store-servers")).isFalse();
            assertThat(browser.text("[data-limit=quotes] .name")).contains("Redis eu");
            eu.kill();
            sample.quote("alice").expectStatus().isEqualTo(HttpStatus.SERVICE_UNAVAILABLE);
            sample.login("alice").expectStatus().isOk();
            browser.await(
                    "the page says so", () -> browser.text("#store-title").startsWith("Redis server eu fails: 2 of "));
            assertThat(browser.text("#store-text"))
                    .contains("on-store-failure applies to these", "the other server go on")
                    .doesNotContain("this instance alone");
            assertThat(browser.text("[data-server=eu] .word")).contains("fails: ", "since ");
            assertThat(browser.text("[data-server=eu] .concerned")).contains("quotes (reject)", "search (local)");
            assertThat(browser.text("[data-server=default] .word")).isEqualTo("decides");
            assertThat(browser.text("[data-server=default] .concerned"))
                    .contains("login")
                    .doesNotContain("quotes");
            browser.await(
                    "the limits are named",
                    () -> browser.text("[data-limit=quotes] .state").startsWith("Refusing")
                            && browser.text("[data-limit=search] .state").startsWith("Not shared"));
            assertThat(browser.text("[data-limit=quotes] .state")).contains("Redis server eu fails");
            browser.await(
                    "the other limit allows calls",
                    () -> browser.text("[data-limit=login] .state").equals("Allowing"));
            assertThat(browser.findAll("#limits tr").stream().limit(2).map(row -> row.getAttribute("data-limit")))
                    .containsExactly("quotes", "search");
            browser.await(
                    "the instance says so",
                    () -> browser.text("#instances").contains("some not shared (eu, ")
                            && browser.text("#total-shared").equals("1 does not share all limits"));

            assertIsAccessible();

            eu.restart();
            browser.await(
                    "all limits are shared again",
                    () -> browser.text("#store-title").equals("Shared by all instances"));
            assertThat(browser.isShown("#store-servers")).isFalse();
            browser.await(
                    "no limit is left",
                    () -> !browser.text("[data-limit=search] .state").contains("Not shared"));
        }
    }
}
