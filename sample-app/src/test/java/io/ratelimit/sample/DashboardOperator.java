package io.ratelimit.sample;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.sample.browser.Axe;
import io.ratelimit.sample.browser.Browser;

/** Goes through the dashboard as an operator does. */
abstract class DashboardOperator {

    Browser browser;

    void openLimit(String name) {
        browser.click("[data-limit=" + name + "] a");
        browser.await(
                name + " is shown",
                () -> browser.text("#limit-name").equals(name) && browser.isShown("#limit-content"));
    }

    void lookUp(String key) {
        browser.type("#key", key).click("#lookup [type=submit]");
        browser.await("the bucket is shown", () -> browser.isShown("#bucket"));
    }

    void awaitLive() {
        browser.await("the page is live", () -> browser.text("#connection-text").equals("Live"));
    }

    void assertIsAccessible() {
        if (browser.isReal()) {
            browser.show(1280, false);
            assertThat(Axe.violations(browser)).as("light").isEmpty();
            browser.show(390, true);
            assertThat(Axe.violations(browser)).as("390 px, dark").isEmpty();
            browser.show(1280, false);
        }
    }

    Sample start(String... properties) {
        return Sample.startOnSharedRedis(Sample.newKeyPrefix(), properties);
    }
}
