package io.ratelimit.sample;

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
}
