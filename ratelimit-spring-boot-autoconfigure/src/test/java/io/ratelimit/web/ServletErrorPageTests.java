package io.ratelimit.web;

import static io.ratelimit.web.ServletRequestApplication.ANY;
import static io.ratelimit.web.ServletRequestApplication.and;
import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.testing.LongRunning;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** On Tomcat. */
@LongRunning
class ServletErrorPageTests extends ErrorPageContract {

    @Override
    void with(String[] properties, Consumer<RawHttp> test) {
        ServletRequestApplication.with(properties, app -> test.accept(app.http()));
    }

    @ParameterizedTest
    @ValueSource(strings = {"error-resolver", "error-view"})
    void viewOfABeanCountsAsWell(String profile) {
        with(
                and(ANY, "spring.profiles.active=" + profile),
                http -> assertThat(rejection(http, "/any", BROWSER))
                        .startsWith("HTTP/1.1 429")
                        .contains("seen by 429", "Retry-After: 3600"));
    }

    /** Spring Security checks the dispatch to an error page, too. */
    @ParameterizedTest
    @CsvSource({"login-page,/any", "login-page,/annotated", "basic,/any", "basic,/annotated"})
    void rejectionStaysOneIfSecurityRefusesTheErrorPage(String security, String path) {
        with(and(ANY, VIEW_429, "spring.profiles.active=" + security), http -> {
            assertThat(http.send("GET /async").status()).isNotEqualTo(200);
            assertThat(rejection(http, path, BROWSER))
                    .startsWith("HTTP/1.1 429")
                    .containsOnlyOnce("Retry-After: 3600")
                    .contains("quota-exceeded", "\"instance\":\"" + path + "\"")
                    .doesNotContain("Location");
        });
    }

    @Test
    void rejectionThatLeavesAFilterIsNoOther() {
        with(
                new String[] {VIEW_429, "spring.profiles.active=limited-filter"},
                http -> assertThat(rejection(http, "/any", "How: servlet", BROWSER))
                        .startsWith("HTTP/1.1 429")
                        .contains("not so fast", "Retry-After: 3600", "RateLimit: \"calls\";r=0;t=3600")
                        .doesNotContain("half an answer"));
    }

    /** @param how what the application does of a rejection, without Spring's help */
    @ParameterizedTest
    @ValueSource(strings = {"sent", "written", "reset", "functional"})
    void rejectionThatTheApplicationAnswersByItselfHasTheHeaders(String how) {
        with(
                new String[] {"spring.profiles.active=own-answers"},
                http -> assertThat(rejection(http, "/own-" + how))
                        .startsWith("HTTP/1.1 429")
                        .containsOnlyOnce("Retry-After: 3600")
                        .containsOnlyOnce("RateLimit: \"blocking-calls\";r=0;t=3600"));
    }
}
