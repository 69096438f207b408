package io.ratelimit.sample;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.ratelimit.sample.browser.Axe;
import io.ratelimit.sample.browser.Browser;
import io.ratelimit.testing.LongRunning;
import io.ratelimit.testing.redis.RedisServer;
import org.assertj.core.api.SoftAssertions;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.openqa.selenium.Keys;

/**
 * Both pages, on a wide and on a narrow screen, light and dark, as a tool reads them, and without a mouse. HtmlUnit, which draws
 * nothing, cannot tell: then these tests are skipped.
 */
@LongRunning
class AccessibilityTests {

    private static final int WIDE = 1280;

    private static final int NARROW = 390;

    private static RedisServer redis;

    private static Sample sample;

    private Browser browser;

    @BeforeAll
    static void start() {
        redis = RedisServer.loadingAtOnce();
        sample = Sample.startOn(
                redis,
                "ratelimit.redis.timeout=1s",
                "ratelimit.top-keys.enabled=true",
                "ratelimit.limits.quotes.plan-expression=#user",
                "ratelimit.limits.quotes.plans.gold.capacity=50",
                "ratelimit.limits.quotes.plans.staff.enabled=false",
                "ratelimit.limits.login.on-store-failure=reject",
                "ratelimit.limits.reports.dry-run=true",
                "ratelimit.limits.coupons.enabled=false");
        sample.post("/actuator/ratelimits/quotes", "{\"capacity\": 4}")
                .expectStatus()
                .isOk();
        sample.post("/actuator/ratelimits/quotes", "{\"plan\": \"gold\", \"capacity\": 40, \"duration\": \"1h\"}")
                .expectStatus()
                .isOk();
        sample.post("/actuator/ratelimits/quotes", "{\"key\": \"mallory\", \"blockFor\": \"1h\"}")
                .expectStatus()
                .isOk();
    }

    @AfterAll
    static void stop() {
        sample.close();
        redis.close();
    }

    @BeforeEach
    void getBrowser() {
        browser = Browser.get();
        assumeTrue(browser.isReal(), "Not checked: accessibility needs a Chromium and its chromedriver");
    }

    @Test
    void theDashboardViolatesNoRule() {
        SoftAssertions all = new SoftAssertions();
        for (int call = 0; call < 6; call++) {
            sample.login("mallory");
            sample.report("acme", 40);
            sample.quote("alice");
        }
        browser.open(sample.url("/ratelimits"));
        browser.await(
                "the rejections are shown",
                () -> browser.text("[data-limit=login] .state").contains("Rejecting"));
        check(all, "the limits");

        openLimit("quotes");
        browser.type("#key", "mallory").click("#lookup [type=submit]");
        browser.await("the block is shown", () -> browser.text("#bucket-facts").contains("Blocked"));
        browser.type("#change-capacity", "many").click("#change [type=submit]").click("#confirm-send");
        browser.await("the failure is shown", () -> browser.isShown("#change-failure"));
        browser.click("summary");
        check(all, "a limit with an override, plans, a blocked key and a failure");

        browser.click("#reset-send");
        browser.await("the dialog is shown", () -> browser.isShown("#confirm"));
        check(all, "the dialog");
        browser.click("#confirm-cancel");

        redis.hang();
        try {
            browser.click(".back a");
            browser.await(
                    "the failure is shown", () -> browser.text("#store-title").contains("Redis fails"));
            sample.login("mallory");
            browser.await(
                    "the refusals are shown",
                    () -> browser.text("[data-limit=login] .state").length() > 0);
            check(all, "the store fails");
        } finally {
            redis.goOn();
        }
        all.assertAll();
    }

    @Test
    void aLostInstanceViolatesNoRule() {
        SoftAssertions all = new SoftAssertions();
        try (Sample lost =
                Sample.startOnSharedRedis(Sample.newKeyPrefix(), "management.endpoint.ratelimits.access=read-only")) {
            browser.open(lost.url("/ratelimits"));
            browser.await("the limits are shown", () -> browser.isShown("[data-limit=quotes]"));
            openLimit("quotes");
            check(all, "without the access to change limits");
            browser.click(".back a");
        }
        browser.await("the page says so", () -> browser.isShown("#problem"));
        check(all, "a lost instance");
        all.assertAll();
    }

    @Test
    void thePlaygroundViolatesNoRule() {
        SoftAssertions all = new SoftAssertions();
        browser.open(sample.url("/"));
        browser.await("the store is known", () -> browser.text("#store").startsWith("Shared"));
        browser.click("[data-uri^='/api/login'] .ten");
        browser.await("ten answers", () -> browser.isShown("[data-uri^='/api/login'] .summary"));
        browser.click("[data-uri^='/api/search'] .primary");
        browser.await("an answer", () -> browser.isShown("[data-uri^='/api/search'] .chip.allowed"));
        check(all, "the playground");
        all.assertAll();
    }

    @Test
    void aLimitIsChangedWithTheKeyboardAlone() {
        browser.open(sample.url("/ratelimits"));
        browser.await("the limits are shown", () -> browser.isShown("[data-limit=payments]"));
        tabTo(".skip");
        browser.press(Keys.ENTER);
        tabTo("[data-limit=payments] a");
        browser.press(Keys.ENTER);
        browser.await("the limit has the focus", () -> isActive("#limit-name") && browser.isShown("#limit-content"));

        tabTo("#change-capacity");
        browser.press("7", Keys.ENTER);
        browser.await("the dialog has the focus", () -> isActive("#confirm-cancel"));
        browser.press(Keys.ESCAPE);
        browser.await("the dialog is closed", () -> !browser.isShown("#confirm"));
        assertThat(browser.isFocused("#change-capacity")).isTrue();
        assertThat(browser.isShown("#override")).isFalse();

        browser.press(Keys.ENTER);
        browser.await("the dialog has the focus", () -> isActive("#confirm-cancel"));
        tabTo("#confirm-send");
        browser.press(Keys.ENTER);
        browser.await(
                "the override is shown", () -> browser.text("#override-text").contains("capacity 7"));
        assertThat(browser.isFocused("#change-capacity")).isTrue();
        assertThat(browser.text("#announcement")).isEqualTo("The limit payments is changed.");

        browser.run("document.getElementById('limit-name').focus()");
        tabTo("#override-remove");
        browser.press(Keys.SPACE);
        tabTo("#confirm-send");
        browser.press(Keys.ENTER);
        browser.await("the override is gone", () -> !browser.isShown("#override"));
        browser.await("the limit has the focus", () -> isActive("#limit-name"));
    }

    private void openLimit(String name) {
        browser.click("[data-limit=" + name + "] a");
        browser.await(name + " is shown", () -> browser.isShown("#limit-content"));
    }

    private boolean isActive(String selector) {
        return Boolean.TRUE.equals(browser.run("return document.activeElement.matches(arguments[0])", selector));
    }

    /** Presses Tab until an element has the focus, which must be seen wherever it is on the way. */
    private void tabTo(String selector) {
        for (int stop = 0; stop < 60; stop++) {
            if (browser.isFocused(selector)) {
                return;
            }
            browser.press(Keys.TAB);
            assertThat(browser.run("""
                    const focused = document.activeElement;
                    const box = focused.getBoundingClientRect();
                    const style = getComputedStyle(focused);
                    return focused === document.body || focused.matches(':focus-visible') && box.top >= 0
                      && box.bottom <= innerHeight + 1 && style.outlineStyle !== 'none'
                      ? 'seen' : focused.outerHTML.slice(0, 200);""")).isEqualTo("seen");
        }
        throw new AssertionError("Tab does not lead to " + selector);
    }

    private void check(SoftAssertions all, String what) {
        check(all, what, WIDE, false);
        check(all, what, NARROW, true);
        // The other two differ from these in colors or in places alone.
        if (Integer.getInteger("ratelimit.test.scale", 0) >= 100) {
            check(all, what, WIDE, true);
            check(all, what, NARROW, false);
        }
        browser.show(WIDE, false);
    }

    private void check(SoftAssertions all, String what, int width, boolean dark) {
        browser.show(width, dark);
        all.assertThat(Axe.violations(browser))
                .as("%s, %d px, %s", what, width, dark ? "dark" : "light")
                .isEmpty();
        all.assertThat(browser.run("return document.documentElement.scrollWidth"))
                .as("the width of %s at %d px", what, width)
                .isEqualTo((long) width);
    }
}
