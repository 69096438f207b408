package io.ratelimit.web;

import static io.ratelimit.web.ServletRequestApplication.ANY;
import static io.ratelimit.web.ServletRequestApplication.and;
import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.testing.ForegroundLog;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

/** What a browser gets of a rejection, and which headers every rejection has. On a real server of either stack. */
@ExtendWith({OutputCaptureExtension.class, SharedApplication.class})
abstract class ErrorPageContract {

    static final String BROWSER = "Accept: text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";

    static final String VIEW_429 = "spring.web.resources.static-locations=classpath:/views/";

    static final String VIEW_4XX = "spring.web.resources.static-locations=classpath:/views-4xx/";

    static final String NO_VIEW = "spring.web.resources.static-locations=classpath:/none/";

    /** Runs an application with the properties. */
    abstract void with(String[] properties, Consumer<RawHttp> test);

    /** Exhausts the limit of the path with its one permit, and asks once more. */
    static String rejection(RawHttp http, String path, String... headers) {
        assertThat(http.send("GET " + path).status()).isEqualTo(200);
        return http.send("GET " + path, headers).text();
    }

    /** Of a URL, of a handler, of a future, of a publisher and of a functional endpoint. */
    @ParameterizedTest
    @CsvSource({
        "views,not so fast,Whitelabel",
        "views-4xx,your mistake,Whitelabel",
        "none,Whitelabel Error Page,not so fast"
    })
    void browserSeesTheErrorPageOfTheApplicationElseSpringBoots(String views, String text, String none) {
        with(and(ANY, "spring.web.resources.static-locations=classpath:/" + views + "/"), http -> {
            for (String limit : new String[] {"any", "annotated", "future", "mono", "functional"}) {
                assertThat(rejection(http, "/" + limit, BROWSER))
                        .startsWith("HTTP/1.1 429")
                        .contains(text, "Content-Type: text/html")
                        .containsOnlyOnce("Retry-After: 3600")
                        .containsOnlyOnce("RateLimit: \"" + limit + "\";r=0;t=3600")
                        .doesNotContain("quota-exceeded", none);
            }
        });
    }

    @Test
    void callerThatAsksForTheHeadersAloneGetsThem() {
        with(and(ANY, VIEW_429), http -> {
            http.send("GET /any");
            for (String accept : new String[] {BROWSER, "Accept: */*"}) {
                assertThat(http.send("HEAD /any", accept).text())
                        .startsWith("HTTP/1.1 429")
                        .containsOnlyOnce("Retry-After: 3600")
                        .containsOnlyOnce("RateLimit: \"any\";r=0;t=3600")
                        .endsWith("\r\n\r\n");
            }
        });
    }

    @Test
    void otherCallerReadsTheProblem() {
        with(and(ANY, VIEW_429), http -> {
            http.send("GET /any");
            for (String accept : new String[] {
                "*/*",
                "application/json",
                "application/json, text/html",
                "text/html;q=0.5, application/problem+json",
                "text/html;q=0.5, */*",
                "text/html;q=0",
                "image/png",
                "text/html, nonsense"
            }) {
                assertThat(http.send("GET /any", "Accept: " + accept).text())
                        .as(accept)
                        .startsWith("HTTP/1.1 429")
                        .contains("application/problem+json", "quota-exceeded");
            }
        });
    }

    /** @param path what the handler does of a rejection that it has caught, or its own exception handler */
    @ParameterizedTest
    @CsvSource({
        "/caught,3600",
        "/caught-without-a-body,3600",
        "/caught-in-a-stream,3600",
        "/handled,3600",
        "/own,7",
        "/own-without-a-body,7"
    })
    void rejectionThatTheApplicationAnswersHasTheHeaders(String path, String retryAfter) {
        with(new String[] {"spring.profiles.active=own-answers"}, http -> {
            for (String accept : new String[] {BROWSER, "Accept: */*"}) {
                http.send("GET " + path);
                assertThat(http.send("GET " + path, accept).text())
                        .as(accept)
                        .startsWith("HTTP/1.1 429")
                        .containsOnlyOnce("Retry-After:")
                        .contains("Retry-After: " + retryAfter)
                        .containsOnlyOnce("RateLimit: \"calls\";r=0;t=3600");
            }
        });
    }

    @Test
    void rejectionThatTheApplicationAnswersWithAnotherStatusHasNoRetryAfter() {
        with(new String[] {"spring.profiles.active=own-answers"}, http -> {
            http.send("GET /fallback");
            assertThat(http.send("GET /fallback", BROWSER).text())
                    .startsWith("HTTP/1.1 200")
                    .containsOnlyOnce("RateLimit: \"calls\";r=0;t=3600")
                    .doesNotContain("Retry-After");
        });
    }

    @Test
    void adviceOfTheApplicationAnswers() {
        with(and(ANY, VIEW_429, "spring.profiles.active=advice"), http -> {
            assertThat(rejection(http, "/any", BROWSER)).startsWith("HTTP/1.1 423");
            assertThat(rejection(http, "/annotated", BROWSER)).startsWith("HTTP/1.1 423");
        });
    }

    @ParameterizedTest
    @CsvSource({"views-4xx,your mistake", "views,Whitelabel Error Page"})
    void requestWithoutAKeyHasThePageOfItsOwnStatus(String views, String text) {
        String[] keyed = and(
                ANY,
                "ratelimit.limits.any.key-expression=header('X-Api-Key')",
                "spring.web.resources.static-locations=classpath:/" + views + "/");
        with(
                keyed,
                http -> assertThat(http.send("GET /any", BROWSER).text())
                        .startsWith("HTTP/1.1 400")
                        .contains(text)
                        .doesNotContain("Retry-After"));
    }

    @Test
    void requestsWithoutAKeyAreLoggedOnceWhateverTheAnswer(CapturedOutput output) {
        with(and(ANY, "ratelimit.limits.any.key-expression=principal.name"), http -> {
            int before = output.getAll().length();
            for (String accept : new String[] {BROWSER, "Accept: */*", "Accept: application/json"}) {
                assertThat(http.send("GET /any", accept).status()).isEqualTo(400);
            }
            assertThat(ForegroundLog.of(output.getAll().substring(before))
                            .lines()
                            .filter(line -> !line.contains("INFO")))
                    .singleElement()
                    .asString()
                    .contains("WARN", "'any'", "400", "(was null)");
        });
    }

    @Test
    void pageIsForTheOriginsThatTheAnswerWouldHaveBeenFor() {
        with(
                and(ANY, VIEW_429, "spring.profiles.active=cors-handlers"),
                http -> assertThat(rejection(http, "/any", BROWSER, "Origin: https://good.example"))
                        .startsWith("HTTP/1.1 429")
                        .containsOnlyOnce("Access-Control-Allow-Origin: https://good.example")
                        .contains("not so fast"));
    }

    /** The error handling of an application, as Spring Boot's reference describes it. */
    @ParameterizedTest
    @ValueSource(strings = {"/any", "/annotated"})
    void errorHandlingThatReplacesSpringBootsAnswers(String path) {
        with(
                and(ANY, "spring.profiles.active=error-handling"),
                http -> assertThat(rejection(http, path, BROWSER))
                        .startsWith("HTTP/1.1 429")
                        .contains("handled 429")
                        .containsOnlyOnce("Retry-After: 3600"));
    }
}
