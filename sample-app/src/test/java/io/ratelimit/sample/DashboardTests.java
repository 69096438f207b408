package io.ratelimit.sample;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.sample.browser.Browser;
import io.ratelimit.testing.LongRunning;
import java.net.URI;
import java.time.Duration;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.openqa.selenium.Cookie;

/** An operator uses the dashboard of one instance, while another one shares its limits. */
class DashboardTests extends DashboardOperator {

    private static Sample one;

    private static Sample other;

    private static final Pattern OVERRIDE = Pattern.compile("Override\\s+capacity 4, since \\d\\d:\\d\\d:\\d\\d");

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

    /** The other instance rejects: it publishes its figures once a second, and the page asks for them as often. */
    @LongRunning
    @Test
    void aLimitThatRejectsIsTheFirstWithinThreeSeconds() {
        for (int call = 0; call < 5; call++) {
            other.login("grace");
        }
        browser.await(
                Duration.ofSeconds(3),
                "the rejections are shown",
                () -> browser.text("[data-limit=login] .rejected .count").equals("2"));
        browser.await(
                "it is the first",
                () -> "login".equals(browser.find("#limits tr").getAttribute("data-limit")));
        assertThat(browser.text("[data-limit=login] .state")).contains("Rejecting", "since");
        assertThat(browser.text("#total-instances")).isEqualTo("2");
        assertThat(browser.text("#store-title")).isEqualTo("Shared by all instances");
        assertThat(browser.text("#finding-title")).startsWith("login has rejected calls since ");
        browser.await(
                "the page says which callers, and where",
                () -> browser.text("#finding-facts").contains("(2 rejected), no other instance"));
        assertThat(browser.text("#finding-facts"))
                .contains("Not counted (ratelimit.top-keys.enabled)")
                .doesNotContain("Override", "Also");
        one.post("/actuator/ratelimits/login", "{\"capacity\": 4, \"duration\": \"10m\"}")
                .expectStatus()
                .isOk();
        browser.await(
                "the page says what was changed, and when",
                () -> OVERRIDE.matcher(browser.text("#finding-facts")).find());
        one.delete("/actuator/ratelimits/login").expectStatus().isOk();
        openLimit("login");
        assertThat(browser.isShown("#finding")).isFalse();
        browser.await(
                "the chart has a drawing of them",
                () -> browser.find("#chart .area.rejected").getAttribute("d") != null);
    }

    /** What would be the effect of a mistake in the page: the policy stops it. HtmlUnit has none, so there the header is read. */
    @LongRunning
    @Test
    void thePolicyLetsNoTextBecomeMarkupOrScript() {
        if (browser.isReal()) {
            browser.run("""
                    window.attempts = [
                      () => { document.getElementById('instance').innerHTML = '<b>broken</b>'; },
                      () => { document.createElement('script').text = 'window.broken = 1'; },
                      () => { document.body.setAttribute('onclick', 'window.broken = 1'); },
                      () => { document.body.append(Object.assign(new Image(), {src: 'http://192.0.2.1/'})); }
                    ].map(attempt => { try { attempt(); return 'done'; } catch (ex) { return ex.name; } });""");
            assertThat(browser.run("return window.attempts.join()")).isEqualTo("TypeError,TypeError,TypeError,done");
            assertThat(browser.run("return window.broken")).isNull();
            browser.await(
                    "the policy is reported", () -> browser.errors().toString().contains("Content Security Policy"));
        } else {
            one.get("/ratelimits")
                    .expectHeader()
                    .valueMatches("Content-Security-Policy", "default-src 'none'; script-src 'self'; .*");
        }
    }

    /** Spring Security's CookieCsrfTokenRepository would compare it. */
    @LongRunning
    @Test
    void aChangeSendsTheTokenOfTheCookie() {
        browser.driver().manage().addCookie(new Cookie("XSRF-TOKEN", "the-token"));
        openLimit("quotes");
        lookUp("heidi");
        browser.click("#reset-send").click("#confirm-send");
        browser.await("the token is sent", () -> browser.sent("X-XSRF-TOKEN").contains("the-token"));
    }

    @LongRunning
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

    /** What was changed meanwhile is not overwritten unseen. */
    @LongRunning
    @Test
    void aChangeAfterAnotherOneIsReviewedAgain() {
        openLimit("payments");
        browser.type("#change-rate", "9/m").click("#change [type=submit]");
        browser.await("the change is summed up", () -> browser.isShown("#confirm-send"));
        one.post("/actuator/ratelimits/payments", "{\"rate\": \"7/m\"}")
                .expectStatus()
                .isOk();
        browser.await(
                "the page has read it", () -> browser.text("#override-text").contains("rate 7/m"));
        browser.click("#confirm-send");
        browser.await("the page says so", () -> browser.text("#change-failure").contains("was changed meanwhile"));
        one.get("/actuator/ratelimits/payments").expectBody().jsonPath("$.rate").isEqualTo("7/m");
        browser.click("#change [type=submit]").click("#confirm-send");
        browser.await("the change is made", () -> browser.text("#override-text").contains("rate 9/m"));
    }

    @LongRunning
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
    @LongRunning
    @Test
    void aKeyIsText() {
        String key = "<img src=x onerror=\"document.title='broken'\">";
        openLimit("quotes");
        lookUp(key);
        assertThat(browser.text("#bucket-name")).isEqualTo(key);
        assertThat(browser.findAll("#bucket img, #confirm img")).isEmpty();
        assertThat(browser.driver().getTitle()).doesNotContain("broken");
    }

    /** Eighteen calls a second and no rejection; then the limit allows as many, and a caller repeats rejected calls. */
    @LongRunning
    @Test
    void theCallsBeforeAreComparedWithThoseSince() {
        assertThat(browser.run("""
                const history = window.RateLimits.History();
                const zeros = count => Array(count).fill(0);
                history.add('quotes', {
                  from: '2026-01-01T00:00:00Z', step: 'PT5S',
                  allowed: zeros(4).concat(Array(14).fill(90), 10), rejected: zeros(10).concat(Array(9).fill(200))
                });
                const change = history.change('quotes', Date.parse('2026-01-01T00:01:30Z'));
                const keyed = { capacity: 60, rate: '10/m', methods: { quote: { key: '#user' } }, requests: {} };
                return [change.before, change.allowed, change.calls,
                  window.RateLimits.limits.verdict(keyed, change),
                  window.RateLimits.limits.verdict(keyed, { before: 18, allowed: 6, calls: 18 }),
                  window.RateLimits.limits.verdict(keyed, { before: 18, allowed: 54, calls: 108 }),
                  window.RateLimits.limits.verdict(keyed, { before: 2, allowed: 4, calls: 20 }),
                  window.RateLimits.limits.verdict({ methods: { quote: {} } }, change)].join(' ').trim();
                """))
                .isEqualTo("18 18 58 "
                        + "As many calls are allowed as before: probably a few callers repeat rejected calls. "
                        + "Fewer calls are allowed than before: probably the limit is too low. "
                        + "More calls are allowed than before: probably all callers call more. "
                        + "One or two callers can explain what is allowed more: probably they repeat rejected calls.");
    }

    /** A limit usually rejects one call or none in five seconds; from 00:13 on it rejects a hundred. */
    @LongRunning
    @Test
    void anIncidentBeginsWhereTheLimitRejectsMoreThanItUsuallyDoes() {
        assertThat(((String) browser.run("""
                const history = window.RateLimits.History();
                const usual = Array.from(Array(156), (_, index) => index % 3 === 0 ? 1 : 0);
                const add = (name, rejected) => history.add(name, {
                  from: '2026-01-01T00:00:00Z', step: 'PT5S', allowed: Array(rejected.length).fill(90), rejected
                });
                add('quotes', usual.concat(Array(12).fill(100)));
                add('search', usual);
                const began = name => history.since(name, Date.parse('2026-01-01T00:14:00Z'));
                return [new Date(began('quotes').time).toISOString(), began('quotes').longer,
                  history.change('quotes', Date.parse('2026-01-01T00:14:00Z')).before,
                  history.since('search', Date.parse('2026-01-01T00:13:00Z')).time === Date.parse('2026-01-01T00:00:00Z')].join('|');
                """)).split("[|]"))
                .containsExactly("2026-01-01T00:13:00.000Z", "false", "18", "true");
    }

    /** As many calls are allowed as before, of twenty callers, since instances apply a lower rate. */
    @LongRunning
    @Test
    void theMostRejectedKeysAndTheStartsOfInstancesTellMoreThanTheCalls() {
        assertThat(((String) browser.run("""
                const keyed = { capacity: 5, rate: '1/5s', methods: { quote: { key: '#user' } }, requests: {} };
                const began = Date.parse('2026-01-01T00:10:00Z');
                const change = { before: 5.5, allowed: 5, calls: 8.6, began, first: began - 300000 };
                const keys = (count, rejected) => Array.from(Array(count), (_, index) => ({ key: 'k' + index, rejected }));
                const started = seconds => [{ startedAt: new Date(began + 1000 * seconds).toISOString() }];
                const verdict = window.RateLimits.limits.verdict;
                return [verdict(keyed, change, keys(20, 11), started(-300)),
                  verdict(keyed, Object.assign({}, change, { allowed: 20 }), keys(20, 11), []),
                  verdict(keyed, change, [{ key: 'mallory', rejected: 300 }].concat(keys(5, 2)), []),
                  verdict(keyed, change, keys(5, 1), []),
                  verdict(keyed, change, undefined, started(-29)).replace(/[0-9]+(:[0-9]+)+/, 'T'),
                  verdict(keyed, change, keys(20, 11), started(-29).concat(started(0))).replace(/[0-9]+(:[0-9]+)+/, 'T')
                ].join('|');
                """)).split("[|]"))
                .containsExactly(
                        "The rejected calls are those of many callers: probably the limit is too low.",
                        "The rejected calls are those of many callers: probably all callers call more.",
                        "One or two callers have most of the rejected calls: probably they repeat rejected calls.",
                        "As many calls are allowed as before: probably a few callers repeat rejected calls.",
                        "An instance started at T: compare the numbers of the limit with those before.",
                        "Instances started, the first at T: compare the numbers of the limit with those before. "
                                + "The rejected calls are those of many callers: probably the limit is too low.");
    }

    @LongRunning
    @Test
    void theMostRejectedCallersAreNamed() {
        assertThat(((String) browser.run("""
                const keyed = { methods: { quote: { key: '#user' } }, requests: {} };
                const keys = (count, rejected) => Array.from(Array(count), (_, index) => ({ key: 'k' + index, rejected }));
                const mallory = { key: 'mallory', rejected: 2300 };
                const callers = (limit, own) => window.RateLimits.limits.callers(limit, own, own.topKeys);
                return [callers(keyed, { topKeys: [mallory].concat(keys(5, 2)) }),
                  callers(keyed, { topKeys: [mallory, { key: 'trudy', rejected: 900 }].concat(keys(5, 2)) }),
                  callers(keyed, { topKeys: keys(20, 11) }),
                  callers(keyed, { topKeys: keys(2, 1) }),
                  callers(keyed, { topKeys: [] }),
                  callers(keyed, {}),
                  callers({ methods: { quote: {} } }, {})].join('|');
                """)).split("[|]"))
                .containsExactly(
                        "mallory (2,300 rejected)",
                        "mallory (2,300 rejected), trudy (900)",
                        "Many: k0 (11 rejected), k1 (11), k2 (11) and more",
                        "k0 (1 rejected), k1 (1)",
                        "",
                        "Not counted (ratelimit.top-keys.enabled)",
                        "All callers share one bucket");
    }

    /** Nine rejections since 00:14, and a key that was rejected 900 times at 00:10. */
    @LongRunning
    @Test
    void keysOfAnEarlierIncidentAreNotNamed() {
        assertThat(((String) browser.run("""
                const history = window.RateLimits.History();
                const zeros = count => Array(count).fill(0);
                history.add('quotes', {
                  from: '2026-01-01T00:10:00Z', step: 'PT5S', rejected: [900].concat(zeros(47), 9)
                });
                const now = Date.parse('2026-01-01T00:14:05Z');
                const carl = { key: 'carl', rejected: 900, error: 0 };
                const alice = { key: 'alice', rejected: 9, error: 0 };
                const keyed = { methods: { quote: { key: '#user' } }, requests: {} };
                return [history.keys('quotes', [carl, alice], now) === null,
                  history.keys('quotes', [alice], now)[0].key,
                  window.RateLimits.limits.callers(keyed, { topKeys: [carl, alice] }, null)].join('|');
                """)).split("[|]"))
                .containsExactly(
                        "true", "alice", "Not known yet: the keys are those of five minutes, with an earlier incident");
    }

    @LongRunning
    @Test
    void aFailedChangeMayHaveBeenMadeUnlessTheAnswerSaysOtherwise() {
        assertThat(((String) browser.run("""
                const refusal = detail => window.RateLimits.client.refusal({ status: 503, json: { detail } });
                return [refusal('No answer.'), refusal('A foreign value. Nothing was changed.')].join('|');
                """)).split("[|]"))
                .containsExactly(
                        "No answer. The change may have been made: look at what applies now.",
                        "A foreign value. Nothing was changed.");
    }

    @LongRunning
    @Test
    void theHintForRejectedCallersNamesTheProperty() {
        openLimit("quotes");
        assertThat(browser.text("#no-top")).contains("ratelimit.top-keys.enabled=true");
        assertThat(browser.isShown("#chart-change")).isFalse();
    }
}
