package io.ratelimit.sample;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.RateLimiter;
import io.ratelimit.RateLimiterRegistry;
import io.ratelimit.sample.browser.Browser;
import io.ratelimit.testing.LongRunning;
import java.util.Arrays;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.openqa.selenium.WebElement;
import org.springframework.http.HttpStatus;

/** What the dashboard shows in other surroundings, each with an instance of its own. */
@LongRunning
class DashboardSurroundingsTests extends DashboardOperator {

    @BeforeEach
    void open() {
        browser = Browser.get();
    }

    @Test
    void withoutTheAccessThereIsNothingToChange() {
        try (Sample sample = start("management.endpoint.ratelimits.access=read-only")) {
            browser.open(sample.url("/ratelimits"));
            openLimit("quotes");
            browser.await(
                    "the page says so",
                    () -> browser.text("#read-only").contains("management.endpoint.ratelimits.access=unrestricted"));
            lookUp("alice");
            assertThat(browser.isShown("#bucket-facts")).isTrue();
            assertThat(browser.isShown(".change")).isFalse();
            assertThat(browser.errors()).isEmpty();
        }
    }

    @Test
    void aPageWithoutItsEndpointSaysHowToExposeIt() {
        try (Sample sample = start("management.endpoints.web.exposure.include=health")) {
            browser.open(sample.url("/ratelimits"));
            browser.await(
                    "the page says so",
                    () -> browser.text("#problem-fix")
                            .contains("management.endpoints.web.exposure.include=health,ratelimits"));
        }
    }

    @Test
    void theManagementServerHasThePageAndItsFigures() {
        try (Sample sample = start("management.server.port=0", "management.server.base-path=/manage")) {
            browser.open(sample.managementUrl("/manage/ratelimits"));
            browser.await("the limits are shown", () -> browser.isShown("[data-limit=quotes]"));
            assertThat(browser.errors()).isEmpty();
        }
    }

    @Test
    void plansZonesAndCostsKnownAfterwardsAreShown() {
        try (Sample sample = start(
                "ratelimit.limits.quotes.plan-expression=#user",
                "ratelimit.limits.quotes.plans.gold.capacity=50",
                "ratelimit.limits.quotes.plans.staff.enabled=false",
                "ratelimit.limits.login.rate=3/month",
                "ratelimit.limits.login.zone=Europe/Berlin",
                "ratelimit.limits.reports.permits-after=#result.pages()")) {
            browser.open(sample.url("/ratelimits"));
            openLimit("quotes");
            assertThat(browser.text("#places")).contains("plan #user");
            assertThat(browser.text("#plans")).contains("gold", "50 at once · 1/s", "staff", "off");
            browser.click(".back a");
            openLimit("login");
            assertThat(browser.isShown("#plans")).isFalse();
            assertThat(browser.text("#attributes")).contains("Europe/Berlin");
            browser.click(".back a");
            openLimit("reports");
            assertThat(browser.text("#places")).contains("permitsAfter #result.pages()");
            assertThat(browser.errors()).isEmpty();
        }
    }

    @Test
    void thePlanOfALimitIsChanged() {
        try (Sample sample = start(
                "ratelimit.limits.quotes.plan-expression=#user",
                "ratelimit.limits.quotes.rate=1/h",
                "ratelimit.limits.quotes.plans.gold.capacity=50")) {
            browser.open(sample.url("/ratelimits"));
            openLimit("quotes");
            browser.await("the plan is shown", () -> browser.isShown("[data-change=gold]"));
            browser.click("[data-change=gold]");
            assertThat(browser.find("#change-plan").getDomProperty("value")).isEqualTo("gold");
            assertThat(browser.isShown("#change-onStoreFailure")).isFalse();

            browser.type("#change-capacity", "0").click("#change [type=submit]");
            browser.await(
                    "the change is summed up",
                    () -> browser.text("#confirm-title").contains("for the plan gold")
                            && browser.text("#confirm-list").contains("capacity: 50 → 0"));
            browser.click("#confirm-send");
            browser.await(
                    "the page says why not",
                    () -> browser.text("#change-failure").contains("capacity must"));
            assertThat(browser.text("#plans")).contains("50 at once");

            browser.type("#change-capacity", "2").click("#change [type=submit]").click("#confirm-send");
            browser.await("the override is shown", () -> browser.text("#plans").contains("capacity 2"));
            assertThat(browser.isShown("#override")).isFalse();
            sample.quote("gold").expectStatus().isOk();
            sample.quote("gold").expectStatus().isOk();
            sample.quote("gold").expectStatus().isEqualTo(HttpStatus.TOO_MANY_REQUESTS);

            selectPlan("#key-plan", "gold");
            lookUp("gold");
            browser.await(
                    "the bucket has the numbers of the plan",
                    () -> browser.text("#bucket-facts").contains("0 of 2"));

            browser.click("[data-remove=gold]").click("#confirm-send");
            browser.await(
                    "the plan is as configured", () -> browser.text("#plans").contains("50 at once"));
            sample.quote("gold").expectStatus().isOk();
            assertThat(browser.errors())
                    .filteredOn(error -> !error.contains("status of 400"))
                    .isEmpty();
        }
    }

    private void selectPlan(String selector, String plan) {
        browser.findAll(selector + " option").stream()
                .filter(option -> plan.equals(option.getDomAttribute("value")))
                .forEach(WebElement::click);
    }

    @Test
    void anInstanceThatSharesNothingSaysSo() {
        try (Sample sample = start("ratelimit.store=in-memory")) {
            browser.open(sample.url("/ratelimits"));
            awaitLive();
            browser.await("the page says so", () -> browser.text("#store-title").equals("Each instance on its own"));
            assertThat(browser.text("#store-text")).contains("kept in memory", "The figures are those of");
            assertThat(browser.text("#total-shared")).isEqualTo("each on its own");
            openLimit("quotes");
            assertThat(browser.text("#chart-title")).isEqualTo("Calls per second, this instance");
        }
    }

    @Test
    void anInstanceThatCountsNothingSaysSo() {
        try (Sample sample = start("ratelimit.statistics.enabled=false")) {
            browser.open(sample.url("/ratelimits"));
            awaitLive();
            browser.await("the page says so", () -> browser.text("#store-title").equals("No figures"));
            assertThat(browser.text("#store-text")).contains("ratelimit.statistics.enabled");
            assertThat(browser.text("[data-limit=quotes] .state")).isEqualTo("Not counted");
        }
    }

    @Test
    void aSaturatedConcurrencyLimitAndItsWaitingCallsAreShown() {
        try (Sample sample = start(Stream.of(
                        Arrays.stream(Sample.CONCURRENCY),
                        Stream.of("ratelimit.limits.exports.max-wait=1h", "ratelimit.limits.reports.max-wait=30d"))
                .flatMap(each -> each)
                .toArray(String[]::new))) {
            RateLimiterRegistry limiters = sample.bean(RateLimiterRegistry.class);
            RateLimiter exports = limiters.get("exports");
            RateLimiter.Entry entry = exports.enter("alice");
            browser.open(sample.url("/ratelimits"));
            browser.await(
                    "the permit is shown",
                    () -> browser.text("[data-limit=exports] .load").equals("1 in use, on this instance"));
            assertThat(browser.text("[data-limit=exports] .state")).doesNotContain("Saturated");
            assertThat(browser.text("[data-limit=reports] .load")).isEmpty();

            RateLimiter.Entry others = exports.enter("alice", 4);
            CompletableFuture<?> waiting = exports.enterAsync("alice").toCompletableFuture();
            limiters.get("reports").tryAcquire("bob", 100);
            CompletableFuture<?> reserved =
                    limiters.get("reports").acquireAsync("bob", 100).toCompletableFuture();
            browser.await(
                    "the limit is saturated",
                    () -> browser.text("[data-limit=exports] .state").startsWith("Saturated"));
            assertThat(browser.text("[data-limit=exports] .load"))
                    .isEqualTo("5 in use, 1 call waits, on this instance");
            assertThat(browser.find("#limits tr").getAttribute("data-limit")).isEqualTo("exports");
            browser.await(
                    "the call that waits is shown",
                    () -> browser.text("[data-limit=reports] .load").equals("1 call waits, on this instance"));
            browser.await(
                    "its limit is not saturated",
                    () -> browser.text("[data-limit=reports] .state").startsWith("Allowing"));

            assertIsAccessible();
            openLimit("exports");
            assertThat(browser.text("#load")).contains("Permits in use", "5", "Calls that wait", "1");
            assertThat(browser.text("#load-hint")).contains("all permits of a key are in use", "at most 1h");
            waiting.cancel(false);
            reserved.cancel(false);
            others.close();
            browser.await("it is not saturated", () -> !browser.isShown("#load-hint"));
            lookUp("alice");
            assertThat(browser.text("#bucket-facts"))
                    .contains("1 permit", "4 of 5")
                    .doesNotContain("Full again");
            entry.close();
            browser.click(".back a");
            openLimit("quotes");
            assertThat(browser.isShown("#load")).isFalse();
        }
    }
}
