package io.ratelimit.web;

import static io.ratelimit.web.ServletRequestApplication.ANY;
import static io.ratelimit.web.ServletRequestApplication.and;
import static io.ratelimit.web.ServletRequestApplication.with;
import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.autoconfigure.StoppedClock;
import io.ratelimit.testing.LongRunning;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** No way of writing a request gets past its limit, on a real Tomcat. */
@LongRunning
@ExtendWith(SharedApplication.class)
class ServletRequestPathTests {

    private static final List<String> SPELLINGS = List.of(
            "GET /any",
            "get /any",
            "FOO /any",
            "HEAD /any",
            "GET /any/",
            "GET /any;jsessionid=1",
            "GET /any;a=b;c",
            "GET /;x/any",
            "GET /%61ny",
            "GET //any",
            "GET /./any",
            "GET /x/../any",
            "GET /%2e/any",
            "GET /x/%2e%2e/any",
            "GET /x;y/..;z/any",
            "GET /any?x=/other",
            "GET /any//",
            "GET http://elsewhere/any",
            "GET /any/;x",
            "GET /any/.");

    /** @param profiles a filter that takes the slash away behind the limits; a servlet that reads paths as the container */
    @ParameterizedTest
    @ValueSource(strings = {"slash", "slash,wide"})
    void spellingThatReachesTheHandlerIsCharged(String profiles) {
        with(and(ANY, "spring.profiles.active=" + profiles), app -> {
            for (String spelling : SPELLINGS) {
                app.reached().clear();
                app.http().send("GET /any");
                assertThat(app.http().send(spelling).status()).as(spelling).isIn(429, 400, 404);
                assertThat(app.reached()).as(spelling).containsExactly("any");
                app.context().getBean(StoppedClock.class).advance(Duration.ofHours(1));
            }
        });
    }

    /** As a reference, what follows two slashes would be a host. */
    @ParameterizedTest
    @CsvSource({"//,/", "///,/", "//evil.example/x,/evil.example/x", "/x//y,/x//y"})
    void pathThatIsNoReferenceIsAnsweredAsAnyOther(String path, String instance) {
        String[] properties = {
            "ratelimit.limits.all.rate=1/h", "ratelimit.http[0].path=/**", "ratelimit.http[0].limit=all"
        };
        with(properties, app -> {
            app.http().send("GET /other");
            RawHttp.Answer rejected = app.http().send("GET " + path);
            assertThat(rejected.text()).startsWith("HTTP/1.1 429").contains("\"instance\":\"" + instance + "\"");
        });
    }

    @ParameterizedTest
    @ValueSource(strings = {"json", "text/", "*/plain"})
    void malformedAcceptIsNoReasonForAnotherAnswer(String accept) {
        with(ANY, app -> {
            app.http().send("GET /any");
            assertThat(app.http().send("GET /any", "Accept: " + accept).text())
                    .startsWith("HTTP/1.1 429")
                    .contains("application/problem+json", "quota-exceeded");
        });
    }

    @ParameterizedTest
    @ValueSource(strings = {"/app/ctx/any", "/app/ctx/any/", "/app/ctx;x/any", "/app/%63tx/any", "/%61pp/ctx/any"})
    void contextPathAndServletPathAreNotPartOfTheRule(String spelling) {
        with(and(ANY, "server.servlet.context-path=/app", "spring.mvc.servlet.path=/ctx"), app -> {
            assertThat(app.http().send("GET /app/ctx/any").status()).isEqualTo(200);
            assertThat(app.http().send("GET " + spelling).status()).isNotEqualTo(200);
            assertThat(app.http().send("GET /app/ctx/any").status()).isEqualTo(429);
            assertThat(app.reached()).containsExactly("any");
        });
    }

    @ParameterizedTest
    @ValueSource(strings = {"/legacy/in", "//legacy//in", "/legacy/x/../in", "/%6cegacy/in", "/legacy/in;x=y"})
    void servletThatIsNotSpringsIsLimitedByTheWholePath(String spelling) {
        String[] properties = {
            "ratelimit.limits.in.rate=1/h",
            "ratelimit.http[0].path=/legacy/in",
            "ratelimit.http[0].limit=in",
            "spring.profiles.active=wide"
        };
        with(properties, app -> {
            assertThat(app.http().send("GET /legacy/in").status()).isEqualTo(200);
            assertThat(app.http().send("GET " + spelling).status()).isEqualTo(429);
            assertThat(app.reached()).containsExactly("legacy");
        });
    }

    /** Of a servlet that is mapped by a prefix, the prefix alone is a path, too. */
    @ParameterizedTest
    @CsvSource({
        "'',/legacy",
        "'',/legacy/",
        "'',/legacy;x=y",
        "'',//legacy",
        "'',/%6cegacy",
        "'',/x/../legacy",
        "/app,/app/legacy",
        "/app,/app/legacy/",
        "/app,/app;x/legacy",
        "/app,/%61pp/legacy",
    })
    void prefixOfAServletIsLimitedByTheRuleForAllBelowIt(String contextPath, String spelling) {
        String[] properties = {
            "ratelimit.limits.in.rate=1/h",
            "ratelimit.http[0].path=/legacy/**",
            "ratelimit.http[0].limit=in",
            "server.servlet.context-path=" + contextPath,
            "spring.profiles.active=wide"
        };
        with(properties, app -> {
            assertThat(app.http().send("GET " + contextPath + "/legacy/in").status())
                    .isEqualTo(200);
            assertThat(app.http().send("GET " + spelling).status()).isEqualTo(429);
            assertThat(app.reached()).containsExactly("legacy");
        });
    }

    @ParameterizedTest
    @CsvSource({"GET,HEAD,429", "GET,get,429", "POST,post,429", "POST,GET,200", "POST,HEAD,200"})
    void methodsAreComparedAsHandlersTakeThem(String rule, String method, int status) {
        with(and(ANY, "ratelimit.http[0].methods=" + rule), app -> {
            assertThat(app.http().send(rule + " /any").status()).isEqualTo(200);
            assertThat(app.http().send(method + " /any").status()).isEqualTo(status);
        });
    }
}
