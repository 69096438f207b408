package io.ratelimit.web;

import static io.ratelimit.web.ReactiveRequestLimitTests.ANY;
import static io.ratelimit.web.ReactiveRequestLimitTests.with;
import static io.ratelimit.web.ServletRequestApplication.and;
import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.testing.LongRunning;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Limits of URLs and scripts of other origins, on a real Netty. */
@LongRunning
@ExtendWith(SharedApplication.class)
class ReactiveRequestCorsTests {

    private static final String ORIGIN = "Origin: https://good.example";

    private static final String[] PREFLIGHT = {ORIGIN, "Access-Control-Request-Method: GET"};

    /** @param profile where the application says what other origins may do */
    @ParameterizedTest
    @ValueSource(strings = {"cors-handlers", "cors-filter", "cors-source"})
    void rejectionIsForTheOriginsThatTheAnswerWouldHaveBeenFor(String profile) {
        with(and(ANY, "spring.profiles.active=" + profile), app -> {
            app.http.send("GET /any", ORIGIN);
            RawHttp.Answer rejected = app.http.send("GET /any", ORIGIN);
            assertThat(rejected.status()).isEqualTo(429);
            assertThat(rejected.text())
                    .containsIgnoringCase("Access-Control-Allow-Origin: https://good.example")
                    .containsIgnoringCase("Access-Control-Expose-Headers: RateLimit")
                    .contains("quota-exceeded");
            assertThat(app.http.send("GET /any").status()).isEqualTo(429);
            assertThat(app.http.send("GET /any", "Origin: https://bad.example").text())
                    .doesNotContainIgnoringCase("Access-Control-Allow-Origin");
            assertThat(app.application().reached).containsExactly("any");
        });
    }

    @Test
    void preflightIsNotLimited() {
        with(and(ANY, "spring.profiles.active=cors-handlers"), app -> {
            for (int i = 0; i < 3; i++) {
                assertThat(app.http.send("OPTIONS /any", PREFLIGHT).text())
                        .startsWith("HTTP/1.1 200")
                        .containsIgnoringCase("Access-Control-Allow-Origin: https://good.example");
            }
            assertThat(app.listener().outcomes()).isEmpty();
            assertThat(app.application().reached).isEmpty();
        });
    }

    @Test
    void preflightIsLimitedByARuleThatNamesItsMethod() {
        with(and(ANY, "ratelimit.http[0].methods=OPTIONS", "spring.profiles.active=cors-handlers"), app -> {
            assertThat(app.http.send("OPTIONS /any", PREFLIGHT).status()).isEqualTo(200);
            assertThat(app.http.send("OPTIONS /any", PREFLIGHT).status()).isEqualTo(429);
        });
    }

    @Test
    void otherRequestOfThatMethodIsLimited() {
        with(ANY, app -> {
            app.http.send("GET /any");
            assertThat(app.http.send("OPTIONS /any", ORIGIN).status()).isEqualTo(429);
            assertThat(app.http.send("GET /any", PREFLIGHT).status()).isEqualTo(429);
            assertThat(app.http.send("options /any", PREFLIGHT).status()).isEqualTo(429);
        });
    }
}
