package io.ratelimit.sample;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.ratelimit.sample.browser.Browser;
import io.ratelimit.testing.LongRunning;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.openqa.selenium.WebElement;

/** A visitor of the sample plays with its page. */
class PlaygroundTests {

    private static final String QUOTES = "[data-uri^='/api/quotes']";

    private static final String BUCKET = "[data-limit=quotes][data-key]";

    private static Sample sample;

    private Browser browser;

    @BeforeAll
    static void start() {
        sample = Sample.startOnSharedRedis(
                Sample.newKeyPrefix(), "ratelimit.limits.login.rate=3/h", "ratelimit.limits.reports.rate=100/d");
    }

    @AfterAll
    static void stop() {
        sample.close();
    }

    @BeforeEach
    void open() {
        browser = Browser.get().open(sample.url("/"));
        browser.await("the store is known", () -> browser.text("#store").startsWith("Shared"));
        // A caller of its own for each test.
        browser.type("#caller", "visitor-" + System.nanoTime());
        browser.await("the bucket is full", () -> remaining() == 5);
    }

    @LongRunning
    @Test
    void tenAtOnceAreFiveAnswersAndFiveRejections() {
        browser.click(QUOTES + " .ten");
        browser.await(
                "ten answers",
                () -> statuses(QUOTES).size() == 10 && !statuses(QUOTES).contains("…"));

        assertThat(statuses(QUOTES))
                .containsOnly("200", "429")
                .filteredOn("200"::equals)
                .hasSizeGreaterThanOrEqualTo(5);
        assertThat(browser.text(QUOTES + " .summary"))
                .startsWith("10 answers: ")
                .contains("rejected");
        browser.findAll(QUOTES + " .chip.rejected").get(0).click();
        assertThat(browser.text(QUOTES + " .meaning"))
                .isEqualTo("Rejected by quotes. The same call can succeed in 1 s.");
        assertThat(browser.text(QUOTES + " .response"))
                .contains("HTTP/1.1 429", "RateLimit: \"quotes\";r=0;t=1", "Retry-After: 1", "\"violated-policies\"");
    }

    @LongRunning
    @Test
    void bucketDrainsAndRefillsByItself() {
        browser.click(QUOTES + " .ten");
        browser.await("the bucket is empty", () -> remaining() <= 1);
        browser.await(Duration.ofSeconds(20), "the bucket is full again", () -> remaining() == 5);
        assertThat(browser.text(BUCKET)).contains("full");
    }

    @Test
    void everyEndpointAnswers() {
        List<WebElement> cards = browser.findAll(".card");
        assertThat(cards).hasSize(7);
        browser.findAll(".card .primary").forEach(WebElement::click);
        browser.await(
                "every endpoint has answered",
                () -> statuses(".card").equals(List.of("200", "200", "200", "200", "200", "200", "200")));
        assertThat(browser.text("[data-uri^='/api/search'] .meaning"))
                .matches("Allowed\\. \\d permits? left of search, \\d permits? left of search-all\\.");
    }

    @LongRunning
    @Test
    void costIsWhatTheVisitorEnters() {
        String reports = "[data-uri^='/api/reports']";
        browser.type(reports + " input", "101").click(reports + " .primary");
        browser.await("an answer", () -> statuses(reports).equals(List.of("429")));
        assertThat(browser.text(reports + " .meaning"))
                .isEqualTo("Rejected by reports. It asks for more than the bucket can ever hold.");
        assertThat(browser.text(reports + " .curl code")).endsWith("&pages=101'");
    }

    @LongRunning
    @Test
    void aChangeIsInForceAtOnce() {
        String dryRun = ".change button:nth-of-type(2)";
        browser.click(dryRun);
        browser.await("it is in force", () -> "true".equals(browser.find(dryRun).getDomAttribute("aria-pressed")));
        browser.click(QUOTES + " .ten");
        browser.await(
                "ten answers",
                () -> statuses(QUOTES).size() == 10 && !statuses(QUOTES).contains("…"));
        assertThat(statuses(QUOTES)).containsOnly("200");
        assertThat(browser.text(QUOTES + " .meaning")).isEqualTo("Allowed, without a limit in force.");

        browser.click(".change button:nth-of-type(3)");
        browser.await("it is over", () -> "false".equals(browser.find(dryRun).getDomAttribute("aria-pressed")));
    }

    /** The caller's name is neither markup on the page nor a word of the shell. */
    @LongRunning
    @Test
    void aNameIsText() {
        String name = "<img src=x onerror=\"document.title='broken'\">' $(id)";
        browser.type("#caller", name);
        browser.click(QUOTES + " .primary");
        browser.await("an answer", () -> statuses(QUOTES).equals(List.of("200")));

        assertThat(browser.text(BUCKET + " .owner")).isEqualTo(name);
        assertThat(browser.text(QUOTES + " .curl code"))
                .startsWith("curl -si '" + sample.url("/api/quotes?user=%3Cimg"))
                .endsWith("%27%20%24(id)'");
        assertThat(browser.findAll("main img")).isEmpty();
        assertThat(browser.driver().getTitle()).doesNotContain("broken");
    }

    /** What would be the effect of a mistake in the page: the policy stops it. HtmlUnit has no such policy. */
    @LongRunning
    @Test
    void thePolicyLetsNoTextBecomeMarkupOrScript() {
        assumeTrue(browser.isReal());
        assertThat(browser.run("""
                        return [
                          () => { document.getElementById('store').innerHTML = '<b>broken</b>'; },
                          () => { document.createElement('script').text = 'window.broken = 1'; },
                          () => { document.body.setAttribute('onclick', 'window.broken = 1'); }
                        ].map(attempt => { try { attempt(); return 'done'; } catch (ex) { return ex.name; } }).join();
                        """)).isEqualTo("TypeError,TypeError,TypeError");
        assertThat(browser.findAll("#store b")).isEmpty();
    }

    @LongRunning
    @Test
    void asksNoOtherServerAndHasNoError() {
        browser.click(QUOTES + " .ten");
        browser.await(
                "ten answers",
                () -> statuses(QUOTES).size() == 10 && !statuses(QUOTES).contains("…"));

        // A browser reports a 429 as an error.
        assertThat(browser.errors())
                .filteredOn(error -> !error.contains("status of 429"))
                .isEmpty();
        assertThat(browser.requests())
                .hasSizeGreaterThan(10)
                .filteredOn(url -> !url.equals("about:blank"))
                .allSatisfy(url -> assertThat(URI.create(url).getAuthority())
                        .isEqualTo(URI.create(sample.url("/")).getAuthority()));
    }

    private List<String> statuses(String card) {
        return browser.findAll(card + " .chip").stream()
                .map(chip -> chip.getText().replaceFirst("\\s.*", ""))
                .toList();
    }

    private int remaining() {
        String remaining = browser.find(BUCKET).getDomAttribute("data-remaining");
        return remaining == null ? -1 : Integer.parseInt(remaining);
    }
}
