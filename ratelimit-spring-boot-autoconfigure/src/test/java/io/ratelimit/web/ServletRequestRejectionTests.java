package io.ratelimit.web;

import static io.ratelimit.web.ServletRequestApplication.and;
import static io.ratelimit.web.ServletRequestApplication.with;
import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** How a request is answered that a limit rejects before a handler is reached, on a real Tomcat. */
@ExtendWith(SharedApplication.class)
class ServletRequestRejectionTests {

    private static final String[] LOGIN = {
        "ratelimit.limits.login.rate=1/h",
        "ratelimit.http[0].path=/login",
        "ratelimit.http[0].methods=POST",
        "ratelimit.http[0].limit=login"
    };

    @Test
    void requestBeyondTheLimitIsAnsweredAsOneOfAHandler() {
        with(LOGIN, app -> {
            assertThat(app.http().send("POST /login").text())
                    .startsWith("HTTP/1.1 200")
                    .containsIgnoringCase("RateLimit: \"login\";r=0;t=3600");
            RawHttp.Answer rejected = app.http().send("POST /login");
            assertThat(rejected.status()).isEqualTo(429);
            assertThat(rejected.text())
                    .containsIgnoringCase("Retry-After: 3600")
                    .containsIgnoringCase("RateLimit: \"login\";r=0;t=3600")
                    .contains("application/problem+json", "quota-exceeded", "\"violated-policies\":[\"login\"]");
            assertThat(app.http().send("GET /login").status()).isEqualTo(200);
            assertThat(app.http().send("POST /any").status()).isEqualTo(200);
        });
    }

    @Test
    void adviceOfTheApplicationAnswers() {
        with(and(LOGIN, "spring.profiles.active=advice"), app -> {
            app.http().send("POST /login");
            RawHttp.Answer rejected = app.http().send("POST /login");
            assertThat(rejected.status()).isEqualTo(423);
            assertThat(rejected.text()).endsWith("no login for you");
        });
    }

    /** @param how what is thrown: the rejection itself, or something that it is the cause of */
    @ParameterizedTest
    @ValueSource(strings = {"itself", "servlet", "future", "io"})
    void rejectionThatLeavesAFilterIsAnsweredAsOneOfAHandler(String how) {
        with(new String[] {"spring.profiles.active=limited-filter"}, app -> {
            assertThat(app.http().send("GET /any", "How: " + how).status()).isEqualTo(200);
            RawHttp.Answer rejected = app.http().send("GET /any", "How: " + how);
            assertThat(rejected.status()).isEqualTo(429);
            assertThat(rejected.text())
                    .containsIgnoringCase("Retry-After: 3600")
                    .containsIgnoringCase("RateLimit: \"calls\";r=0;t=3600")
                    .contains("application/problem+json", "quota-exceeded", "\"violated-policies\":[\"calls\"]")
                    .doesNotContain("half an answer");
            assertThat(app.reached()).containsExactly("any");
        });
    }

    @Test
    void adviceOfTheApplicationAnswersWhatLeavesAFilter() {
        with(new String[] {"spring.profiles.active=limited-filter,advice"}, app -> {
            app.http().send("GET /any", "How: servlet");
            RawHttp.Answer rejected = app.http().send("GET /any", "How: servlet");
            assertThat(rejected.status()).isEqualTo(423);
            assertThat(rejected.text()).endsWith("no calls for you");
        });
    }

    @ParameterizedTest
    @CsvSource({"unrelated,500", "committed,200"})
    void whatIsNotOursOrTooLateIsLeftToTheContainer(String how, int status) {
        with(new String[] {"spring.profiles.active=limited-filter"}, app -> {
            app.http().send("GET /any", "How: " + how);
            RawHttp.Answer answer = app.http().send("GET /any", "How: " + how);
            assertThat(answer.status()).isEqualTo(status);
            assertThat(answer.text()).doesNotContain("problem+json", "quota-exceeded");
        });
    }

    /** There is no servlet yet that could render the view. */
    @ParameterizedTest
    @CsvSource({"view,429", "view-status,423", "view-annotated,423"})
    void adviceThatNamesAViewDecidesTheStatusAlone(String advice, int status) {
        with(and(LOGIN, "spring.profiles.active=" + advice), app -> {
            app.http().send("POST /login");
            assertThat(app.http().send("POST /login").status()).isEqualTo(status);
        });
    }

    @Test
    void adviceThatNamesAViewForARequestWithoutAKeyKeepsItsStatus() {
        String[] keyed = and(LOGIN, "ratelimit.limits.login.key-expression=header('X-Api-Key')");
        with(
                and(keyed, "spring.profiles.active=view"),
                app -> assertThat(app.http().send("POST /login").status()).isEqualTo(400));
    }

    @Test
    void adviceThatNamesAViewForARefusalKeepsItsStatus() {
        String[] refused = {
            "ratelimit.store=redis", "ratelimit.on-store-failure=reject", "spring.profiles.active=view,broken-store"
        };
        with(
                and(LOGIN, refused),
                app -> assertThat(app.http().send("POST /login").status()).isEqualTo(503));
    }
}
