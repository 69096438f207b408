package io.ratelimit.web;

import static io.ratelimit.web.ServletRequestApplication.ANY;
import static io.ratelimit.web.ServletRequestApplication.and;
import static io.ratelimit.web.ServletRequestApplication.with;
import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.testing.LongRunning;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Limits of URLs and scripts of other origins, on a real Tomcat. */
@LongRunning
@ExtendWith(SharedApplication.class)
class ServletRequestCorsTests {

    private static final String ORIGIN = "Origin: https://good.example";

    private static final String[] PREFLIGHT = {ORIGIN, "Access-Control-Request-Method: GET"};

    /** @param profile where the application says what other origins may do */
    @ParameterizedTest
    @ValueSource(strings = {"cors-handlers", "cors-filter", "cors-registration", "cors-source"})
    void rejectionIsForTheOriginsThatTheAnswerWouldHaveBeenFor(String profile) {
        with(and(ANY, "spring.profiles.active=" + profile), app -> {
            app.http().send("GET /any", ORIGIN);
            RawHttp.Answer rejected = app.http().send("GET /any", ORIGIN);
            assertThat(rejected.status()).isEqualTo(429);
            assertThat(rejected.text())
                    .containsOnlyOnce("Access-Control-Allow-Origin: https://good.example")
                    .contains("Access-Control-Expose-Headers: RateLimit", "quota-exceeded");
            assertThat(app.http().send("GET /any").status()).isEqualTo(429);
            assertThat(app.http()
                            .send("GET /any", "Origin: https://bad.example")
                            .text())
                    .doesNotContain("Access-Control-Allow-Origin");
            assertThat(app.reached()).containsExactly("any");
        });
    }

    @Test
    void malformedOriginIsNoReasonForAnotherAnswer() {
        with(ANY, app -> {
            app.http().send("GET /any");
            assertThat(app.http().send("GET /any", "Origin: %%%").status()).isEqualTo(429);
        });
    }

    @Test
    void filterOfOtherUrlsSaysNothing() {
        with(and(ANY, "spring.profiles.active=cors-registration-elsewhere"), app -> {
            app.http().send("GET /any", ORIGIN);
            RawHttp.Answer rejected = app.http().send("GET /any", ORIGIN);
            assertThat(rejected.status()).isEqualTo(429);
            assertThat(rejected.text()).doesNotContain("Access-Control-Allow-Origin");
        });
    }

    @Test
    void preflightIsNotLimited() {
        with(and(ANY, "spring.profiles.active=cors-handlers"), app -> {
            for (int i = 0; i < 3; i++) {
                assertThat(app.http().send("OPTIONS /any", PREFLIGHT).text())
                        .startsWith("HTTP/1.1 200")
                        .contains("Access-Control-Allow-Origin: https://good.example");
            }
            assertThat(app.listener().outcomes()).isEmpty();
            assertThat(app.reached()).isEmpty();
        });
    }

    @Test
    void preflightIsLimitedByARuleThatNamesItsMethod() {
        with(and(ANY, "ratelimit.http[0].methods=OPTIONS", "spring.profiles.active=cors-handlers"), app -> {
            assertThat(app.http().send("OPTIONS /any", PREFLIGHT).status()).isEqualTo(200);
            assertThat(app.http().send("OPTIONS /any", PREFLIGHT).status()).isEqualTo(429);
        });
    }

    @Test
    void otherRequestOfThatMethodIsLimited() {
        with(ANY, app -> {
            app.http().send("GET /any");
            assertThat(app.http().send("OPTIONS /any", ORIGIN).status()).isEqualTo(429);
            assertThat(app.http().send("GET /any", PREFLIGHT).status()).isEqualTo(429);
            assertThat(app.http().send("options /any", PREFLIGHT).status()).isEqualTo(429);
        });
    }

    /** It may take a preflight for any other request. */
    @Test
    void preflightToAServletThatIsNotSpringsIsLimited() {
        with(and(ANY, "spring.profiles.active=wide"), app -> {
            app.http().send("GET /any");
            assertThat(app.http().send("OPTIONS /any", PREFLIGHT).status()).isEqualTo(429);
            assertThat(app.reached()).containsExactly("any");
        });
    }
}
