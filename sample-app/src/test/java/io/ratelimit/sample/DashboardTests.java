package io.ratelimit.sample;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.sample.browser.Browser;
import java.net.URI;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** An operator uses the dashboard of one instance, while another one shares its limits. */
class DashboardTests {

    private static Sample one;

    private static Sample other;

    private Browser browser;

    @BeforeAll
    static void start() {
        String prefix = Sample.newKeyPrefix();
        one = Sample.startOnSharedRedis(prefix, "ratelimit.limits.quotes.rate=1/h");
        other = Sample.startOnSharedRedis(prefix, "ratelimit.limits.quotes.rate=1/h");
    }

    @AfterAll
    static void stop() {
        one.close();
        other.close();
    }

    @BeforeEach
    void open() {
        browser = Browser.get().open(one.url("/ratelimits"));
        browser.await("the limits are shown", () -> browser.isShown("[data-limit=quotes]"));
    }

    @Test
    void thePageHasNoErrorAndAsksNoOtherServer() {
        openLimit("quotes");
        assertThat(browser.errors()).isEmpty();
        assertThat(browser.requests())
                .hasSizeGreaterThan(10)
                .filteredOn(url -> !url.equals("about:blank"))
                .allSatisfy(url -> assertThat(URI.create(url).getAuthority())
                        .isEqualTo(URI.create(one.url("/")).getAuthority()));
    }

    @Test
    void aChangeIsInForceOnTheOtherInstance() {
        openLimit("reports");
        browser.type("#change-capacity", "7").type("#change-duration", "10m");
        browser.click("#change [type=submit]");
        browser.await(
                "the change is summed up", () -> browser.text("#confirm-list").contains("capacity: 100 → 7"));
        browser.click("#confirm-send");
        browser.await(
                "the override is shown", () -> browser.text("#override-text").contains("capacity 7"));
        browser.await(
                "the other instance applies it",
                () -> other.report("acme", 8).returnResult().getStatus().value() == 429);

        browser.click("#override-remove").click("#confirm-send");
        browser.await("the override is gone", () -> !browser.isShown("#override"));
        browser.await(
                "the other instance applies it",
                () -> other.report("acme", 8).returnResult().getStatus().value() == 200);
    }

    @Test
    void aKeyIsBlockedAndUnblocked() {
        openLimit("quotes");
        lookUp("mallory");
        assertThat(browser.isShown("#bucket-picture svg")).isTrue();
        browser.click("#block-send").click("#confirm-send");
        browser.await(
                "the block is shown",
                () -> browser.text("#bucket-facts").contains("for 10 min")
                        || browser.text("#bucket-facts").contains("for 9 min"));
        browser.await(
                "the key is blocked",
                () -> other.quote("mallory").returnResult().getStatus().value() == 429);
        browser.click("#unblock-send").click("#confirm-send");
        browser.await(
                "the key is not blocked",
                () -> other.quote("mallory").returnResult().getStatus().value() == 200);
        assertThat(browser.errors()).isEmpty();
    }

    /** No text of a caller or the server becomes markup. */
    @Test
    void aKeyIsText() {
        String key = "<img src=x onerror=\"document.title='broken'\">";
        openLimit("quotes");
        lookUp(key);
        assertThat(browser.text("#bucket-name")).isEqualTo(key);
        assertThat(browser.findAll("#bucket img, #confirm img")).isEmpty();
        assertThat(browser.driver().getTitle()).doesNotContain("broken");
    }

    private void openLimit(String name) {
        browser.click("[data-limit=" + name + "] a");
        browser.await(
                name + " is shown",
                () -> browser.text("#limit-name").equals(name) && browser.isShown("#limit-content"));
    }

    private void lookUp(String key) {
        browser.type("#key", key).click("#lookup [type=submit]");
        browser.await("the bucket is shown", () -> browser.isShown("#bucket"));
    }
}
