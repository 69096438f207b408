package io.ratelimit.web;

import static io.ratelimit.web.ServletRequestApplication.ANY;
import static io.ratelimit.web.ServletRequestApplication.and;
import static io.ratelimit.web.ServletRequestApplication.with;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.ratelimit.RateLimiterRegistry;
import io.ratelimit.testing.LongRunning;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What a request is charged, on a real Tomcat. */
@LongRunning
@ExtendWith(SharedApplication.class)
class ServletRequestLimitTests {

    @ParameterizedTest
    @CsvSource({
        "clientIp,X: 1,127.0.0.1",
        "header('X-Api-Key'),X-Api-Key: k-1,k-1",
        "@tenants.of(clientIp),X: 1,t-127.0.0.1"
    })
    void keyIsWhatTheConfigurationSays(String expression, String header, String key) {
        with(and(ANY, "ratelimit.limits.any.key-expression=" + expression), app -> {
            app.http().send("GET /any", header);
            assertThat(app.listener().keys()).containsExactly(key);
        });
    }

    @Test
    void permitsAndConditionApply() {
        String[] properties = {
            "ratelimit.limits.any.capacity=4",
            "ratelimit.limits.any.permits=header('Cost') == null ? 1 : 3",
            "ratelimit.limits.any.condition=header('Free') == null"
        };
        with(and(ANY, properties), app -> {
            assertThat(app.http().send("GET /any", "Cost: x").status()).isEqualTo(200);
            assertThat(app.http().send("GET /any", "Cost: x").status()).isEqualTo(429);
            assertThat(app.http().send("GET /any").status()).isEqualTo(200);
            assertThat(app.http().send("GET /any").status()).isEqualTo(429);
            assertThat(app.http().send("GET /any", "Free: x").status()).isEqualTo(200);
        });
    }

    @Test
    void variableOfThePathIsTheKey() {
        String[] properties = {
            "ratelimit.limits.tenants.rate=1/h",
            "ratelimit.limits.tenants.key-expression=#tenant",
            "ratelimit.http[0].path=/tenants/{tenant}/**",
            "ratelimit.http[0].limit=tenants"
        };
        with(properties, app -> {
            assertThat(app.http().send("GET /tenants/acme/x").status()).isEqualTo(200);
            assertThat(app.http().send("GET /tenants/%61cme;a=b/x").status()).isEqualTo(429);
            assertThat(app.http().send("GET /tenants/other/x").status()).isEqualTo(200);
            assertThat(app.listener().keys()).containsExactly("acme", "acme", "other");
        });
    }

    @Test
    void allRulesThatMatchAreChargedTogetherAndEachLimitOnce() {
        String[] properties = {
            "ratelimit.limits.small.rate=1/h",
            "ratelimit.limits.big.rate=5/h",
            "ratelimit.http[0].path=/**",
            "ratelimit.http[0].limit=big",
            "ratelimit.http[1].path=/any",
            "ratelimit.http[1].limit=small",
            "ratelimit.http[2].path=/a*",
            "ratelimit.http[2].limit=small"
        };
        with(properties, app -> {
            app.http().send("GET /any");
            assertThat(app.listener().outcomes()).containsExactly("big ALLOWED", "small ALLOWED");
            app.http().send("GET /any");
            assertThat(app.listener().outcomes()).endsWith("small ALLOWED", "small REJECTED");
        });
    }

    /** The condition of the first rule does not hold. */
    @Test
    void costReadsTheVariablesOfTheRuleThatHasCharged() {
        String[] properties = {
            "ratelimit.limits.files.rate=10/h",
            "ratelimit.limits.files.condition=#kind != 'acme'",
            "ratelimit.limits.files.permits-after=#kind == 'tenants' ? 5 : 1",
            "ratelimit.http[0].path=/tenants/{kind}/**",
            "ratelimit.http[0].limit=files",
            "ratelimit.http[1].path=/{kind}/**",
            "ratelimit.http[1].limit=files"
        };
        with(properties, app -> {
            assertThat(app.http().send("GET /tenants/acme/x").status()).isEqualTo(200);
            await().untilAsserted(() -> assertThat(app.context()
                            .getBean(RateLimiterRegistry.class)
                            .get("files")
                            .allCallers()
                            .peek()
                            .remaining())
                    .isEqualTo(5));
        });
    }

    @Test
    void limitIsSharedWithTheAnnotationThatDeclaresIt() {
        with(and(new String[0], "ratelimit.http[0].path=/any", "ratelimit.http[0].limit=annotated"), app -> {
            assertThat(app.http().send("GET /any").status()).isEqualTo(200);
            assertThat(app.http().send("GET /annotated").status()).isEqualTo(429);
        });
    }

    @ParameterizedTest
    @ValueSource(strings = {"/forward", "/failing", "/async"})
    void requestThatIsDispatchedAnewIsChargedOnce(String path) {
        String[] properties = {
            "ratelimit.limits.all.rate=9/h", "ratelimit.http[0].path=/**", "ratelimit.http[0].limit=all"
        };
        with(properties, app -> {
            app.http().send("GET " + path);
            assertThat(app.dispatches()).hasSize(2);
            assertThat(app.listener().outcomes()).containsExactly("all ALLOWED");
        });
    }

    @Test
    void disabledLimitAndDryRunRejectNothing() {
        for (String property : new String[] {"enabled=false", "dry-run=true"}) {
            with(and(ANY, "ratelimit.limits.any." + property), app -> {
                app.http().send("GET /any");
                assertThat(app.http().send("GET /any").status()).isEqualTo(200);
            });
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "header('X-Api-Key')",
                "header('X-Api-Key').trim()",
                "header('Empty')",
                "principal",
                "principal.name",
                "principal?.name"
            })
    void requestWithoutAKeyIsTheClientsMistakeAndGetsNoBucketOfStrangers(String expression) {
        with(and(ANY, "ratelimit.limits.any.key-expression=" + expression), app -> {
            RawHttp.Answer answer = app.http().send("GET /any", "Empty:");
            assertThat(answer.status()).isEqualTo(400);
            assertThat(answer.text())
                    .contains("application/problem+json")
                    .containsOnlyOnce("rate limit 'any'")
                    .doesNotContain("X-Api-Key", "principal");
            assertThat(app.reached()).isEmpty();
        });
    }

    @Test
    void expressionThatFailsIsNotTheClientsMistake() {
        with(
                and(ANY, "ratelimit.limits.any.key-expression={header('X')}[0].missing()"),
                app -> assertThat(app.http().send("GET /any", "X: 1").status()).isEqualTo(500));
    }

    @ParameterizedTest
    @CsvSource({"-101,429", "-99,403"})
    void filterComesBeforeTheOneThatAsksWhoItIsUnlessOrderedOtherwise(int order, int status) {
        with(and(ANY, "ratelimit.web.filter-order=" + order, "spring.profiles.active=guard"), app -> {
            app.http().send("GET /any");
            assertThat(app.http().send("GET /any").status()).isEqualTo(status);
        });
    }
}
