package io.ratelimit.web;

import static io.ratelimit.web.ServletRequestApplication.ANY;
import static io.ratelimit.web.ServletRequestApplication.and;
import static io.ratelimit.web.ServletRequestApplication.with;
import static org.assertj.core.api.Assertions.assertThat;

import jakarta.servlet.DispatcherType;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What a browser gets to see of a rejection, on a real Tomcat. */
class ServletErrorViewTests {

    static final String BROWSER = "Accept: text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";

    static final String VIEW_429 = "spring.web.resources.static-locations=classpath:/views/";

    static final String VIEW_4XX = "spring.web.resources.static-locations=classpath:/views-4xx/";

    @ParameterizedTest
    @CsvSource({
        "/any,views,not so fast",
        "/any,views-4xx,your mistake",
        "/annotated,views,not so fast",
        "/annotated,views-4xx,your mistake"
    })
    void browserSeesTheErrorViewOfTheApplication(String path, String views, String text) {
        with(and(ANY, "spring.web.resources.static-locations=classpath:/" + views + "/"), app -> {
            app.http().send("GET " + path, BROWSER);
            RawHttp.Answer rejected = app.http().send("GET " + path, BROWSER);
            assertThat(rejected.text())
                    .startsWith("HTTP/1.1 429")
                    .contains(text, "Content-Type: text/html")
                    .containsOnlyOnce("Retry-After: 3600")
                    .containsOnlyOnce("RateLimit: \"" + path.substring(1) + "\";r=0;t=3600")
                    .doesNotContain("quota-exceeded");
        });
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "*/*",
                "application/json",
                "application/json, text/html",
                "text/html;q=0.5, application/problem+json",
                "text/html;q=0.5, */*",
                "text/html;q=0",
                "text/*",
                "image/png",
                "text/html, nonsense"
            })
    void otherCallerReadsTheProblem(String accept) {
        with(and(ANY, VIEW_429), app -> {
            app.http().send("GET /any");
            assertThat(app.http().send("GET /any", "Accept: " + accept).text())
                    .startsWith("HTTP/1.1 429")
                    .contains("application/problem+json", "quota-exceeded");
        });
    }

    @Test
    void browserReadsTheProblemWhereThePageWouldBeSpringBoots() {
        with(ANY, app -> {
            app.http().send("GET /any");
            assertThat(app.http().send("GET /any", BROWSER).text())
                    .startsWith("HTTP/1.1 429")
                    .contains("application/problem+json", "quota-exceeded");
            assertThat(app.dispatches()).doesNotContain(DispatcherType.ERROR);
        });
    }

    @ParameterizedTest
    @ValueSource(strings = {"/any", "/annotated"})
    void adviceOfTheApplicationAnswers(String path) {
        with(and(ANY, VIEW_429, "spring.profiles.active=advice"), app -> {
            app.http().send("GET " + path, BROWSER);
            assertThat(app.http().send("GET " + path, BROWSER).status()).isEqualTo(423);
        });
    }

    @ParameterizedTest
    @ValueSource(strings = {"error-resolver", "error-view"})
    void viewOfABeanCountsAsWell(String profile) {
        with(and(ANY, "spring.profiles.active=" + profile), app -> {
            app.http().send("GET /any", BROWSER);
            assertThat(app.http().send("GET /any", BROWSER).text())
                    .startsWith("HTTP/1.1 429")
                    .contains("seen by 429", "Retry-After: 3600");
        });
    }

    @Test
    void rejectionThatLeavesAFilterIsNoOther() {
        with(new String[] {VIEW_429, "spring.profiles.active=limited-filter"}, app -> {
            app.http().send("GET /any", "How: servlet", BROWSER);
            assertThat(app.http().send("GET /any", "How: servlet", BROWSER).text())
                    .startsWith("HTTP/1.1 429")
                    .contains("not so fast", "Retry-After: 3600", "RateLimit: \"calls\";r=0;t=3600")
                    .doesNotContain("half an answer");
        });
    }

    @ParameterizedTest
    @CsvSource({"views-4xx,your mistake", "views,application/problem+json"})
    void requestWithoutAKeyHasTheViewOfItsOwnStatus(String views, String text) {
        String[] keyed = and(
                ANY,
                "ratelimit.limits.any.key-expression=header('X-Api-Key')",
                "spring.web.resources.static-locations=classpath:/" + views + "/");
        with(
                keyed,
                app -> assertThat(app.http().send("GET /any", BROWSER).text())
                        .startsWith("HTTP/1.1 400")
                        .contains(text)
                        .doesNotContain("Retry-After"));
    }

    @Test
    void viewIsForTheOriginsThatTheAnswerWouldHaveBeenFor() {
        with(and(ANY, VIEW_429, "spring.profiles.active=cors-handlers"), app -> {
            app.http().send("GET /any");
            assertThat(app.http()
                            .send("GET /any", BROWSER, "Origin: https://good.example")
                            .text())
                    .startsWith("HTTP/1.1 429")
                    .containsOnlyOnce("Access-Control-Allow-Origin: https://good.example")
                    .contains("not so fast");
        });
    }
}
