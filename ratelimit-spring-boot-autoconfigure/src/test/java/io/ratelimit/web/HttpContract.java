package io.ratelimit.web;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.MissingRateLimitKeyException;
import io.ratelimit.RateLimitExceededException;
import io.ratelimit.RateLimitException;
import io.ratelimit.redis.RedisUnderTest;
import io.ratelimit.testing.ForegroundLog;
import io.ratelimit.web.HttpDocumentation.Story;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.support.StaticMessageSource;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;
import org.springframework.http.HttpStatus;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.RestControllerAdvice;

/** What callers see over HTTP, whatever kind of application it is. On a real port and a real Redis. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@ExtendWith(OutputCaptureExtension.class)
abstract class HttpContract {

    @RegisterExtension
    static final RedisUnderTest redis = new RedisUnderTest();

    private final Map<List<String>, HttpApplication> shared = new HashMap<>();

    private HttpApplication application;

    /** Starts an application with the usual endpoints. */
    abstract HttpApplication start(List<Class<?>> more, String... properties);

    /** Adds to every problem, in the way of this kind of application, what it is like. */
    abstract Class<?> interceptor();

    @BeforeEach
    void begin() {
        if (application == null) {
            application = start(
                    List.of(CatchAllAdvice.class),
                    "ratelimit.limits.dry.dry-run=true",
                    "ratelimit.limits.off.enabled=false",
                    "server.forward-headers-strategy=none");
        }
        application.later(Duration.ofDays(3));
    }

    @AfterAll
    void end() {
        shared.values().forEach(HttpApplication::close);
        application.close();
    }

    /** Returns an application with the usual endpoints that tests with the same properties share. Every bucket is full. */
    private HttpApplication shared(String... properties) {
        HttpApplication known = shared.get(List.of(properties));
        if (known != null && known.storeFails()) {
            known.close();
            known = null;
        }
        if (known == null) {
            known = start(List.of(), properties);
            shared.put(List.of(properties), known);
        }
        known.later(Duration.ofDays(3));
        return known;
    }

    HttpAnswer get(String path, String... headers) {
        return application.get(path, headers);
    }

    void later(Duration by) {
        application.later(by);
    }

    @Test
    void allowedCallSaysWhatRemains() {
        HttpAnswer answer = get("/quotes").isAllowed("\"quotes\";r=1;t=3");
        assertThat(answer.header("RateLimit-Policy")).isEqualTo("\"quotes\";q=2;w=5");
        assertThat(answer.body()).isEqualTo("42");
        assertThat(answer.headers().keySet())
                .noneMatch(name -> name.toLowerCase(Locale.ROOT).startsWith("x-ratelimit"));
        get("/quotes").isAllowed("\"quotes\";r=0;t=5");
    }

    @Test
    void rejectedCallIsAProblem() {
        get("/quotes");
        get("/quotes");
        HttpAnswer answer = get("/quotes").isRejected("\"quotes\";r=0;t=3", "3", "quotes");
        assertThat(answer.header("RateLimit-Policy")).isEqualTo("\"quotes\";q=2;w=5");
        assertThat(answer.problem())
                .isEqualTo(Map.of(
                        "type", "https://iana.org/assignments/http-problem-types#quota-exceeded",
                        "title", "Request cannot be satisfied as assigned quota has been exceeded",
                        "status", 429,
                        "detail", "Rate limit 'quotes' exceeded",
                        "instance", "/quotes",
                        "violated-policies", List.of("quotes")));
    }

    /** Not in chunks, which would take the server a second write. */
    @ParameterizedTest
    @ValueSource(strings = {"/quotes", "/mono"})
    void rejectionIsSentWithItsLength(String path) {
        get(path);
        get(path);
        HttpAnswer answer = get(path);
        assertThat(answer.status()).isEqualTo(429);
        assertThat(answer.header("Content-Length"))
                .isEqualTo(Integer.toString(answer.body().length()));
    }

    @Test
    void blockedCallerIsToldWhenTheBlockEnds() {
        get("/strict").isAllowed("\"strict\";r=1;t=3");
        get("/strict").isAllowed("\"strict\";r=0;t=5");
        HttpAnswer answer = get("/strict").isRejected("\"strict\";r=0;t=60", "60", "strict");
        assertThat(answer.header("RateLimit-Policy")).isEqualTo("\"strict\";q=2;w=5");
        assertThat(answer.problem()).containsEntry("detail", "Rate limit 'strict' exceeded: the key is blocked");
        later(Duration.ofSeconds(59));
        get("/strict").isRejected("\"strict\";r=0;t=1", "1", "strict");
        later(Duration.ofSeconds(1));
        get("/strict").isAllowed("\"strict\";r=1;t=3");
        get("/strict").isAllowed("\"strict\";r=0;t=5");
        get("/strict").isRejected("\"strict\";r=0;t=600", "600", "strict");
    }

    @ParameterizedTest
    @CsvSource({"/quotes,3,2", "/several,1,2", "/mono,86400,1", "/functional,7,1", "/acquire,60,1"})
    void waitingThatLongSucceedsAndOneSecondLessDoesNot(String path, long seconds, int allowed) {
        for (int i = 0; i < allowed; i++) {
            assertThat(get(path).status()).isEqualTo(200);
        }
        assertThat(get(path).header("Retry-After")).isEqualTo(Long.toString(seconds));
        later(Duration.ofSeconds(seconds - 1));
        assertThat(get(path).status()).isEqualTo(429);
        later(Duration.ofSeconds(1));
        assertThat(get(path).status()).isEqualTo(200);
    }

    @Test
    void everyLimitIsAMember() {
        HttpAnswer answer = get("/several").isAllowed("\"burst\";r=1;t=1, \"daily\";r=4;t=17280");
        assertThat(answer.header("RateLimit-Policy")).isEqualTo("\"burst\";q=2;w=2, \"daily\";q=5;w=86400");
        get("/several").isAllowed("\"burst\";r=0;t=2, \"daily\";r=3;t=34560");
        get("/several").isRejected("\"burst\";r=0;t=1, \"daily\";r=3;t=34560", "1", "burst");
        later(Duration.ofSeconds(2));
        get("/several");
        get("/several");
        later(Duration.ofSeconds(2));
        assertThat(get("/several")
                        .isAllowed("\"burst\";r=1;t=1, \"daily\";r=0;t=86396")
                        .status())
                .isEqualTo(200);
        get("/several").isRejected("\"burst\";r=1;t=1, \"daily\";r=0;t=17276", "17276", "daily");
    }

    @Test
    void serviceThatIsCalledDuringARequestSpeaksForItself() {
        get("/service").isAllowed("\"service\";r=9;t=1");
        get("/thrice").isAllowed("\"service\";r=6;t=4");
        get("/thrice").isAllowed("\"service\";r=3;t=7");
        get("/thrice").isAllowed("\"service\";r=0;t=10");
        get("/service").isRejected("\"service\";r=0;t=1", "1", "service");
    }

    @Test
    void callThatNeverCanSucceedIsNotToBeTriedAgain() {
        HttpAnswer answer = get("/costly").isRejected("\"costly\";r=2;t=0", null, "costly");
        assertThat(answer.problem())
                .containsEntry("detail", "Rate limit 'costly' exceeded: the call asks for more than the capacity of 2");
    }

    @Test
    void limitsInDryRunAndDisabledOnesAreNotSeen() {
        for (int i = 4; i >= 0; i--) {
            get("/dry").isAllowed("\"seen\";r=" + i + ";t=" + (5 - i));
        }
        get("/dry").isRejected("\"seen\";r=0;t=1", "1", "seen");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "text/plain",
                "application/xhtml+xml",
                "application/xml",
                "application/json",
                "image/png",
                "text/event-stream",
                "application/problem+xml",
                "application/problem+json;q=0, text/plain",
            })
    void rejectionIsAProblemInJsonWhateverTheCallerAccepts(String accept) {
        get("/quotes");
        get("/quotes");
        get("/quotes", "Accept", accept).isRejected("\"quotes\";r=0;t=3", "3", "quotes");
    }

    @Test
    void spoofedHeaderDoesNotChangeTheAddress() {
        get("/by-ip").isAllowed("\"by-ip\";r=1;t=1");
        get("/by-ip", "X-Forwarded-For", "203.0.113.7", "Forwarded", "for=203.0.113.8")
                .isAllowed("\"by-ip\";r=0;t=2");
        get("/by-ip", "X-Forwarded-For", "203.0.113.9", "X-Real-IP", "203.0.113.10")
                .isRejected("\"by-ip\";r=0;t=1", "1", "by-ip");
    }

    @Test
    void everyPrincipalHasABucket() {
        get("/by-principal", "X-User", "alice").isAllowed("\"by-principal\";r=0;t=1");
        get("/by-principal", "X-User", "bob").isAllowed("\"by-principal\";r=0;t=1");
        get("/by-principal", "X-User", "alice").isRejected("\"by-principal\";r=0;t=1", "1", "by-principal");
    }

    /** Such as {@code principal.username} of an {@code Authentication}, whose declared type does not tell. */
    @Test
    void expressionThatFailsForEachCallerIsAnsweredWith500AndLoggedOnceAMinute(CapturedOutput output) {
        try (HttpApplication own = start(
                List.of(),
                "ratelimit.limits.by-principal.key-expression=principal.username",
                "ratelimit.limits.users.rate=1/h",
                "ratelimit.limits.users.key-expression=@environment.username",
                "ratelimit.http[0].path=/broken",
                "ratelimit.http[0].limit=users")) {
            int before = output.getAll().length();
            for (String path : List.of("/by-principal", "/by-principal", "/broken", "/broken")) {
                HttpAnswer answer = own.get(path, "X-User", "alice");
                assertThat(answer.status()).as(path).isEqualTo(500);
                assertThat(answer.problem())
                        .containsEntry("title", "Internal Server Error")
                        .containsEntry("detail", "The server cannot evaluate a rate limit of the request")
                        .doesNotContainKey("trace");
            }
            String log = ForegroundLog.of(output.getAll().substring(before));
            assertThat(log.lines().filter(line -> line.contains(" ERROR ")))
                    .hasSize(2)
                    .allMatch(line -> line.contains(".username\"") && line.contains("'username' cannot be found"));
            assertThat(log).doesNotContain("\tat ", "alice");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"/by-principal", "/by-header", "/by-header-of-service"})
    void requestWithoutAKeyIsTheClientsMistake(String path, CapturedOutput output) {
        int before = output.getAll().length();
        for (int i = 0; i < 3; i++) {
            HttpAnswer answer = get(path);
            assertThat(answer.status()).isEqualTo(400);
            assertThat(answer.header("RateLimit")).isNull();
            assertThat(answer.problem())
                    .isEqualTo(Map.of(
                            "title",
                            "Bad Request",
                            "status",
                            400,
                            "detail",
                            "The request does not contain the key that rate limit '" + path.substring(1) + "' requires",
                            "instance",
                            path));
        }
        assertThat(ForegroundLog.of(output.getAll().substring(before)).lines().filter(line -> !line.contains("INFO")))
                .singleElement()
                .asString()
                .contains("WARN", "'" + path.substring(1) + "'", "400", "(was null)");
    }

    @Test
    void statusForARequestWithoutAKeyIsAProperty() {
        try (HttpApplication own = start(List.of(CatchAllAdvice.class), "ratelimit.web.missing-key-status=401")) {
            assertThat(own.get("/by-header").problem()).containsEntry("status", 401);
        }
    }

    @Test
    void adviceOfTheApplicationAnswersARequestWithoutAKey() {
        try (HttpApplication own = start(List.of(CatchAllAdvice.class, KeyAdvice.class))) {
            assertThat(own.get("/by-header").body()).isEqualTo("who are you for by-header?");
        }
    }

    @Test
    void adviceForTheSupertypeOfTheExceptionsAnswersInsteadOfTheStarter() {
        try (HttpApplication own = start(List.of(SupertypeAdvice.class, CatchAllAdvice.class))) {
            assertThat(own.get("/by-header").body()).isEqualTo("MissingRateLimitKeyException");
        }
    }

    @Test
    void keyIsNowhereInTheAnswer() {
        String key = "s3cr3t-k3y";
        assertThat(get("/by-header", "X-Api-Key", key).isAllowed("\"by-header\";r=0;t=1"))
                .asString()
                .doesNotContain(key);
        assertThat(get("/by-header", "X-Api-Key", key).isRejected("\"by-header\";r=0;t=1", "1", "by-header"))
                .asString()
                .doesNotContain(key);
        get("/by-header", "X-Api-Key", "another").isAllowed("\"by-header\";r=0;t=1");
    }

    @Test
    void futureIsLimitedAsAnyCall() {
        assertThat(get("/future").status()).isEqualTo(200);
        HttpAnswer answer = get("/future");
        assertThat(answer.status()).isEqualTo(429);
        answer.isRejected("\"future\";r=0;t=1", "1", "future");
    }

    @Test
    void monoIsLimitedAsAnyCall() {
        get("/mono").isAllowed("\"mono\";r=0;t=86400");
        get("/mono").isRejected("\"mono\";r=0;t=86400", "86400", "mono");
    }

    @Test
    void fluxIsLimitedAsAnyCall() {
        assertThat(get("/flux").isAllowed("\"flux\";r=0;t=1").body()).contains("1", "2");
        get("/flux").isRejected("\"flux\";r=0;t=1", "1", "flux");
    }

    @Test
    void rejectionOfWhatIsStreamedAlreadyEndsTheStreamQuietly(CapturedOutput output) {
        int before = output.getAll().length();
        HttpAnswer first = get("/stream");
        assertThat(first.body()).contains("one", "two");
        HttpAnswer second = get("/stream");
        assertThat(second.status()).isEqualTo(200);
        assertThat(second.body().strip()).isEqualTo("data:one");
        assertThat(second.header("Content-Type")).startsWith("text/event-stream");
        assertThat(ForegroundLog.of(output.getAll().substring(before))).doesNotContain("ERROR", "WARN", "Exception");
    }

    @Test
    void rejectionOfWhatIsNotStreamedYetIsAProblem() {
        assertThat(get("/limited-stream").body()).contains("one");
        get("/limited-stream", "Accept", "text/event-stream")
                .isRejected("\"limited-stream\";r=0;t=1", "1", "limited-stream");
    }

    @Test
    void functionalEndpointsAreAnsweredAlike() {
        get("/functional").isAllowed("\"functional\";r=0;t=7");
        HttpAnswer answer = get("/functional").isRejected("\"functional\";r=0;t=7", "7", "functional");
        assertThat(answer.problem()).containsEntry("instance", "/functional");
    }

    @Test
    void rejectionByHandIsAnsweredAlike() {
        get("/acquire").isAllowed(null);
        get("/acquire").isRejected("\"by-hand\";r=0;t=60", "60", "by-hand");
    }

    @Test
    void adviceForEveryExceptionStillGetsTheOthers() {
        assertThat(get("/broken").body()).isEqualTo("caught IllegalStateException");
    }

    @Test
    void adviceOfTheApplicationWinsAndFieldsCanBeLeftOut() {
        try (HttpApplication own =
                start(List.of(OwnAdvice.class, CatchAllAdvice.class), "ratelimit.web.headers=none")) {
            own.get("/quotes").isAllowed(null);
            own.get("/quotes").isAllowed(null);
            HttpAnswer answer = own.get("/quotes");
            assertThat(answer.status()).isEqualTo(402);
            assertThat(answer.body()).isEqualTo("pay for quotes");
            assertThat(answer.headers().keySet())
                    .noneMatch(name -> name.toLowerCase(Locale.ROOT).contains("ratelimit"));
        }
    }

    @Test
    void interceptorsAndMessagesChangeTheProblem() {
        try (HttpApplication own = start(List.of(Messages.class, interceptor()), "ratelimit.web.headers=both")) {
            own.get("/quotes");
            own.get("/quotes");
            HttpAnswer answer = own.get("/quotes").isRejected("\"quotes\";r=0;t=3", "3", "quotes");
            assertThat(answer.problem())
                    .containsEntry("title", "Slow down")
                    .containsEntry("detail", "quotes: 3 s")
                    .containsEntry("intercepted", true);
            assertThat(answer.header("X-RateLimit-Limit")).isEqualTo("2");
            assertThat(answer.header("X-RateLimit-Remaining")).isEqualTo("0");
            assertThat(answer.header("X-RateLimit-Reset")).isEqualTo("3");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"native", "framework"})
    void forwardedAddressDecidesWhereItIsTrusted(String strategy) {
        HttpApplication behindProxy = shared("server.forward-headers-strategy=" + strategy);
        behindProxy.get("/by-ip", "X-Forwarded-For", "203.0.113.7").isAllowed("\"by-ip\";r=1;t=1");
        behindProxy.get("/by-ip", "X-Forwarded-For", "203.0.113.7").isAllowed("\"by-ip\";r=0;t=2");
        behindProxy.get("/by-ip", "X-Forwarded-For", "203.0.113.7").isRejected("\"by-ip\";r=0;t=1", "1", "by-ip");
        behindProxy.get("/by-ip", "X-Forwarded-For", "203.0.113.8").isAllowed("\"by-ip\";r=1;t=1");
        behindProxy.get("/by-ip").isAllowed("\"by-ip\";r=1;t=1");
    }

    @ParameterizedTest
    @CsvSource({
        "native,X-Forwarded-For,203.0.113.7:%s",
        "framework,X-Forwarded-For,203.0.113.7:%s",
        "framework,X-Forwarded-For,[2001:db8::1]:%s",
        "framework,Forwarded,for=203.0.113.7:%s",
        "framework,Forwarded,for=\"[2001:db8::1]:%s\"",
    })
    void portOfAForwardedAddressIsNotPartOfTheCaller(String strategy, String header, String address) {
        HttpApplication behindProxy = shared("server.forward-headers-strategy=" + strategy);
        behindProxy.get("/by-ip", header, address.formatted(5001)).isAllowed("\"by-ip\";r=1;t=1");
        behindProxy.get("/by-ip", header, address.formatted(5002)).isAllowed("\"by-ip\";r=0;t=2");
        behindProxy.get("/by-ip", header, address.formatted(5003)).isRejected("\"by-ip\";r=0;t=1", "1", "by-ip");
    }

    @ParameterizedTest
    @CsvSource({
        "64,2001:db8:0:1:1:2:3:4,2001:db8:0:1:5:6:7:8,2001:db8:0:2::1",
        "48,2001:db8:0:1::1,2001:DB8:0000:2::1,2001:db8:1::1",
        "128,2001:db8::1,2001:0db8:0:0::1,2001:db8::2",
        "128,::ffff:203.0.113.7,203.0.113.7,203.0.113.8",
    })
    void networkOfAnIpv6AddressIsOneCaller(int prefix, String one, String same, String other) {
        HttpApplication behindProxy =
                shared("server.forward-headers-strategy=framework", "ratelimit.web.ipv6-prefix=" + prefix);
        behindProxy.get("/by-ip", "X-Forwarded-For", one).isAllowed("\"by-ip\";r=1;t=1");
        behindProxy.get("/by-ip", "X-Forwarded-For", same).isAllowed("\"by-ip\";r=0;t=2");
        behindProxy.get("/by-ip", "X-Forwarded-For", other).isAllowed("\"by-ip\";r=1;t=1");
    }

    @Test
    void documentationShowsWhatTheServerAnswers() {
        List<Story> stories = HttpDocumentation.stories();
        assertThat(stories)
                .hasSizeGreaterThan(8)
                .allSatisfy(story -> assertThat(story.steps()).isNotEmpty());
        for (Story story : stories) {
            HttpApplication documented = shared(story.properties().toArray(String[]::new));
            story.steps().forEach(step -> step.happen(documented));
        }
    }

    @RestControllerAdvice
    @Order(Ordered.HIGHEST_PRECEDENCE)
    static class FirstCatchAllAdvice extends CatchAllAdvice {}

    /** For no controller that there is. */
    @RestControllerAdvice(assignableTypes = Messages.class)
    static class OwnAdviceOfOthers extends OwnAdvice {}

    @RestControllerAdvice
    static class CatchAllAdvice {

        @ExceptionHandler(Throwable.class)
        ResponseEntity<String> anything(Throwable thrown) {
            return ResponseEntity.internalServerError()
                    .body("caught " + thrown.getClass().getSimpleName());
        }
    }

    @RestControllerAdvice
    @Order(0)
    static class KeyAdvice {

        @ExceptionHandler
        ResponseEntity<String> missing(MissingRateLimitKeyException missing) {
            return ResponseEntity.badRequest().body("who are you for " + missing.getLimitName() + "?");
        }
    }

    @RestControllerAdvice
    @Order(0)
    static class SupertypeAdvice {

        @ExceptionHandler
        ResponseEntity<String> any(RateLimitException failure) {
            return ResponseEntity.badRequest().body(failure.getClass().getSimpleName());
        }
    }

    @RestControllerAdvice
    static class OwnAdvice {

        @ExceptionHandler
        ResponseEntity<String> exceeded(RateLimitExceededException rejection) {
            return ResponseEntity.status(HttpStatus.PAYMENT_REQUIRED).body("pay for " + rejection.getLimitName());
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class Messages {

        @Bean
        StaticMessageSource messageSource() {
            StaticMessageSource messages = new StaticMessageSource();
            messages.setUseCodeAsDefaultMessage(false);
            for (Locale locale : List.of(Locale.ENGLISH, Locale.US, Locale.getDefault())) {
                String exception = RateLimitExceededException.class.getName();
                messages.addMessage("problemDetail.title." + exception, locale, "Slow down");
                messages.addMessage("problemDetail." + exception, locale, "{0}: {1} s");
            }
            return messages;
        }
    }
}
