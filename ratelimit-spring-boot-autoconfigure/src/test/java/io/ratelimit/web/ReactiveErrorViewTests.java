package io.ratelimit.web;

import static io.ratelimit.web.ReactiveRequestLimitTests.ANY;
import static io.ratelimit.web.ReactiveRequestLimitTests.and;
import static io.ratelimit.web.ReactiveRequestLimitTests.with;
import static io.ratelimit.web.ServletErrorViewTests.BROWSER;
import static io.ratelimit.web.ServletErrorViewTests.VIEW_429;
import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What a browser gets to see of a rejection, on a real Netty. */
class ReactiveErrorViewTests {

    /** Of a URL, of a handler's publisher, of a handler's future, and of a functional endpoint. */
    @ParameterizedTest
    @CsvSource({
        "/any,views,not so fast",
        "/any,views-4xx,your mistake",
        "/annotated,views,not so fast",
        "/annotated,views-4xx,your mistake",
        "/future,views,not so fast",
        "/functional,views,not so fast"
    })
    void browserSeesTheErrorViewOfTheApplication(String path, String views, String text) {
        with(and(ANY, "spring.web.resources.static-locations=classpath:/" + views + "/"), app -> {
            app.http.send("GET " + path, BROWSER);
            assertThat(app.http.send("GET " + path, BROWSER).text())
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
                "image/png",
                "text/html, nonsense"
            })
    void otherCallerReadsTheProblem(String accept) {
        with(and(ANY, VIEW_429), app -> {
            app.http.send("GET /any");
            assertThat(app.http.send("GET /any", "Accept: " + accept).text())
                    .startsWith("HTTP/1.1 429")
                    .contains("application/problem+json", "quota-exceeded");
        });
    }

    /** Spring would answer with a part of the page, and the status of that. */
    @ParameterizedTest
    @ValueSource(strings = {"bytes=0-3", "bytes=999-"})
    void callerThatWantsAPartReadsTheProblem(String range) {
        with(and(ANY, VIEW_429), app -> {
            app.http.send("GET /any");
            assertThat(app.http.send("GET /any", BROWSER, "Range: " + range).text())
                    .startsWith("HTTP/1.1 429")
                    .contains("quota-exceeded");
        });
    }

    @ParameterizedTest
    @ValueSource(strings = {"/any", "/annotated", "/functional"})
    void browserReadsTheProblemWhereThePageWouldBeSpringBoots(String path) {
        with(ANY, app -> {
            app.http.send("GET " + path, BROWSER);
            assertThat(app.http.send("GET " + path, BROWSER).text())
                    .startsWith("HTTP/1.1 429")
                    .contains("application/problem+json", "quota-exceeded");
        });
    }

    @ParameterizedTest
    @ValueSource(strings = {"/any", "/annotated"})
    void adviceOfTheApplicationAnswers(String path) {
        with(and(ANY, VIEW_429, "spring.profiles.active=advice"), app -> {
            app.http.send("GET " + path, BROWSER);
            assertThat(app.http.send("GET " + path, BROWSER).status()).isEqualTo(423);
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
                app -> assertThat(app.http.send("GET /any", BROWSER).text())
                        .startsWith("HTTP/1.1 400")
                        .contains(text)
                        .doesNotContain("Retry-After"));
    }

    @Test
    void viewIsForTheOriginsThatTheAnswerWouldHaveBeenFor() {
        with(and(ANY, VIEW_429, "spring.profiles.active=cors-handlers"), app -> {
            app.http.send("GET /any");
            assertThat(app.http
                            .send("GET /any", BROWSER, "Origin: https://good.example")
                            .text())
                    .startsWith("HTTP/1.1 429")
                    .containsOnlyOnce("Access-Control-Allow-Origin: https://good.example")
                    .contains("not so fast");
        });
    }
}
