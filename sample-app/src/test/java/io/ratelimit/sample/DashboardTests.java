package io.ratelimit.sample;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.RateLimiter;
import io.ratelimit.RateLimiterRegistry;
import io.ratelimit.sample.browser.Axe;
import io.ratelimit.sample.browser.Browser;
import io.ratelimit.testing.redis.RedisServer;
import java.net.URI;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.CompletableFuture;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.openqa.selenium.Cookie;
import org.openqa.selenium.WebElement;
import org.springframework.http.HttpStatus;

/** An operator uses the dashboard of one instance, while another one shares its limits. */
class DashboardTests {

    private static Sample one;

    private static Sample other;

    private static final Pattern OVERRIDE = Pattern.compile("Override\\s+capacity 4, since \\d\\d:\\d\\d:\\d\\d");

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

    /** The other instance rejects: it publishes its figures once a second, and the page asks for them as often. */
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
    @Test
    void aChangeSendsTheTokenOfTheCookie() {
        browser.driver().manage().addCookie(new Cookie("XSRF-TOKEN", "the-token"));
        openLimit("quotes");
        lookUp("heidi");
        browser.click("#reset-send").click("#confirm-send");
        browser.await("the token is sent", () -> browser.sent("X-XSRF-TOKEN").contains("the-token"));
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

    /** What was changed meanwhile is not overwritten unseen. */
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

    /** Eighteen calls a second and no rejection; then the limit allows as many, and a caller repeats rejected calls. */
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

    /** As many calls are allowed as before, of twenty callers, since instances apply a lower rate. */
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

    @Test
    void theMostRejectedCallersAreNamed() {
        assertThat(((String) browser.run("""
                const keyed = { methods: { quote: { key: '#user' } }, requests: {} };
                const keys = (count, rejected) => Array.from(Array(count), (_, index) => ({ key: 'k' + index, rejected }));
                const mallory = { key: 'mallory', rejected: 2300 };
                const callers = window.RateLimits.limits.callers;
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

    @Test
    void theHintForRejectedCallersNamesTheProperty() {
        openLimit("quotes");
        assertThat(browser.text("#no-top")).contains("ratelimit.top-keys.enabled=true");
        assertThat(browser.isShown("#chart-change")).isFalse();
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

    /** What the page shows in other surroundings, each with an instance of its own. */
    @Nested
    class OtherInstance {

        @Test
        void withoutTheAccessThereIsNothingToChange() {
            try (Sample sample = start("management.endpoint.ratelimits.access=read-only")) {
                browser.open(sample.url("/ratelimits"));
                openLimit("quotes");
                browser.await(
                        "the page says so",
                        () -> browser.text("#read-only")
                                .contains("management.endpoint.ratelimits.access=unrestricted"));
                lookUp("alice");
                assertThat(browser.isShown("#bucket-facts")).isTrue();
                assertThat(browser.isShown(".change")).isFalse();
                assertThat(browser.errors()).isEmpty();
            }
        }

        @Test
        void anInstanceThatStopsIsMissedAndFoundAgain() {
            Sample sample = start();
            try (sample) {
                browser.open(sample.url("/ratelimits"));
                awaitLive();
            }
            browser.await(
                    "the page says so", () -> browser.text("#problem-title").equals("The instance does not answer"));
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

        private void awaitLive() {
            browser.await(
                    "the page is live", () -> browser.text("#connection-text").equals("Live"));
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

                browser.type("#change-capacity", "2")
                        .click("#change [type=submit]")
                        .click("#confirm-send");
                browser.await(
                        "the override is shown", () -> browser.text("#plans").contains("capacity 2"));
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
                        "the plan is as configured",
                        () -> browser.text("#plans").contains("50 at once"));
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
                        .contains(
                                "Reason: ",
                                "since",
                                "those of this instance alone",
                                "the other instances do is unknown");
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
                        "they are drawn",
                        () -> browser.find("#chart .line.refused").getAttribute("d") != null);
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
                        "the page says so",
                        () -> browser.text("#store-title").startsWith("Redis server eu fails: 2 of "));
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

        @Test
        void anInstanceThatSharesNothingSaysSo() {
            try (Sample sample = start("ratelimit.store=in-memory")) {
                browser.open(sample.url("/ratelimits"));
                awaitLive();
                browser.await(
                        "the page says so", () -> browser.text("#store-title").equals("Each instance on its own"));
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
                browser.await(
                        "the page says so", () -> browser.text("#store-title").equals("No figures"));
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
                assertThat(browser.find("#limits tr").getAttribute("data-limit"))
                        .isEqualTo("exports");
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

        private void assertIsAccessible() {
            if (browser.isReal()) {
                browser.show(1280, false);
                assertThat(Axe.violations(browser)).as("light").isEmpty();
                browser.show(390, true);
                assertThat(Axe.violations(browser)).as("390 px, dark").isEmpty();
                browser.show(1280, false);
            }
        }

        private Sample start(String... properties) {
            return Sample.startOnSharedRedis(Sample.newKeyPrefix(), properties);
        }
    }
}
