package io.ratelimit.web.servlet;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.OutboundRateLimitExceededException;
import io.ratelimit.RateLimitDecision;
import io.ratelimit.RateLimitExceededException;
import io.ratelimit.annotation.RateLimited;
import io.ratelimit.autoconfigure.LimitedContexts;
import io.ratelimit.web.HeaderFormat;
import io.ratelimit.web.HeaderRecord;
import io.ratelimit.web.ProblemResponses;
import io.ratelimit.web.TestWebSettings;
import java.time.Duration;
import java.util.Locale;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.context.support.StaticMessageSource;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.http.ResponseEntity;
import org.springframework.test.web.servlet.assertj.MockMvcTester;
import org.springframework.test.web.servlet.assertj.MvcTestResult;
import org.springframework.web.ErrorResponse;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.bind.annotation.RestControllerAdvice;
import org.springframework.web.servlet.config.annotation.EnableWebMvc;

class RateLimitExceptionResolverTests {

    private final WebApplicationContextRunner runner =
            LimitedContexts.inMemoryServlet().withUserConfiguration(Mvc.class).withBean(QuoteController.class);

    @Test
    void rejectionIsAProblemWithStatus429() {
        runner.run(context -> {
            MockMvcTester mvc = MockMvcTester.from(context);
            assertThat(mvc.get().uri("/quote")).hasStatusOk();
            MvcTestResult rejected = mvc.get().uri("/quote").exchange();
            assertThat(rejected)
                    .hasStatus(HttpStatus.TOO_MANY_REQUESTS)
                    .hasContentType(MediaType.APPLICATION_PROBLEM_JSON)
                    .hasHeader(HttpHeaders.RETRY_AFTER, "3");
            assertThat(rejected).bodyJson().isStrictlyEqualTo("""
                            {
                              "type": "https://iana.org/assignments/http-problem-types#quota-exceeded",
                              "title": "Request cannot be satisfied as assigned quota has been exceeded",
                              "status": 429,
                              "detail": "Rate limit 'quotes' exceeded",
                              "instance": "/quote",
                              "violated-policies": ["quotes"]
                            }
                            """);
        });
    }

    @ParameterizedTest
    @CsvSource({"text/plain", "application/json", "text/event-stream"})
    void rejectionIsAProblemWhateverTheCallerAccepts(String accepted) {
        runner.run(context -> {
            MockMvcTester mvc = MockMvcTester.from(context);
            mvc.get().uri("/quote").exchange();
            assertThat(mvc.get().uri("/quote").header(HttpHeaders.ACCEPT, accepted))
                    .hasStatus(HttpStatus.TOO_MANY_REQUESTS)
                    .hasContentType(MediaType.APPLICATION_PROBLEM_JSON);
        });
    }

    @ParameterizedTest
    @CsvSource({"PT0.000001S,1", "PT1S,1", "PT1.000001S,2", "PT1.9S,2", "PT1H,3600", "PT0S,1"})
    void retryAfterIsRoundedUpToAtLeastOneSecond(Duration retryAfter, String seconds) {
        assertThat(answer(retryAfter).getHeaders().getFirst(HttpHeaders.RETRY_AFTER))
                .isEqualTo(seconds);
    }

    @Test
    void callThatNeverCanSucceedIsNotTriedAgain() {
        assertThat(answer(null).getHeaders().getFirst(HttpHeaders.RETRY_AFTER)).isNull();
    }

    @Test
    void problemIsInJsonEvenWhereXmlCouldBeWritten() {
        assertThat(answer(Duration.ofSeconds(1)).getHeaders().getContentType())
                .isEqualTo(MediaType.APPLICATION_PROBLEM_JSON);
    }

    @Test
    void adviceOfTheApplicationWins() {
        runner.withBean(OwnAdvice.class).run(context -> {
            MockMvcTester mvc = MockMvcTester.from(context);
            mvc.get().uri("/quote").exchange();
            assertThat(mvc.get().uri("/quote")).hasStatus(HttpStatus.PAYMENT_REQUIRED);
        });
    }

    /** Such a servlet asks Spring's composite resolver alone, and not the starter's. */
    @Test
    void rejectionIsAProblemWhereTheServletFindsNoResolvers() {
        runner.run(context -> {
            MockMvcTester mvc = MockMvcTester.from(
                    context,
                    builder -> builder.addFilters(context.getBean(RateLimitHeadersFilter.class))
                            .addDispatcherServletCustomizer(
                                    servlet -> servlet.setDetectAllHandlerExceptionResolvers(false))
                            .build());
            mvc.get().uri("/quote").exchange();
            assertThat(mvc.get().uri("/quote"))
                    .hasStatus(HttpStatus.TOO_MANY_REQUESTS)
                    .hasContentType(MediaType.APPLICATION_PROBLEM_JSON);
        });
    }

    @Test
    void adviceForEveryExceptionDoesNotSwallowARejection() {
        runner.withBean(CatchAllAdvice.class).run(context -> {
            MockMvcTester mvc = MockMvcTester.from(context);
            mvc.get().uri("/quote").exchange();
            assertThat(mvc.get().uri("/quote")).hasStatus(HttpStatus.TOO_MANY_REQUESTS);
        });
    }

    @Test
    void adviceOfTheApplicationWinsBesideOneForEveryException() {
        runner.withBean(OwnAdvice.class).withBean(CatchAllAdvice.class).run(context -> {
            MockMvcTester mvc = MockMvcTester.from(context);
            mvc.get().uri("/quote").exchange();
            assertThat(mvc.get().uri("/quote")).hasStatus(HttpStatus.PAYMENT_REQUIRED);
        });
    }

    @Test
    void adviceForRejectionsOfCallsToOthersWins() {
        runner.withBean(OutboundAdvice.class).withBean(CallingController.class).run(context -> {
            MockMvcTester mvc = MockMvcTester.from(context);
            assertThat(mvc.get().uri("/calling")).hasStatus(HttpStatus.BAD_GATEWAY);
            mvc.get().uri("/quote").exchange();
            assertThat(mvc.get().uri("/quote")).hasStatus(HttpStatus.TOO_MANY_REQUESTS);
        });
    }

    @Test
    void handlerOfTheControllerWins() {
        runner.withBean(HandlingController.class).run(context -> {
            MockMvcTester mvc = MockMvcTester.from(context);
            mvc.get().uri("/handling").exchange();
            assertThat(mvc.get().uri("/handling")).hasStatus(HttpStatus.PAYMENT_REQUIRED);
        });
    }

    private static ErrorResponse answer(Duration retryAfter) {
        RateLimitDecision decision =
                new RateLimitDecision(false, 1, 0, Duration.ZERO, retryAfter, Duration.ofSeconds(1));
        return new ProblemResponses(new StaticMessageSource(), TestWebSettings.of(HeaderFormat.NONE))
                .of(new RateLimitExceededException("quotes", decision), "/quotes", Locale.ENGLISH, new HeaderRecord());
    }

    @EnableWebMvc
    static class Mvc {}

    @RestController
    static class QuoteController {

        @GetMapping("/quote")
        @RateLimited(name = "quotes", rate = "2/5s", capacity = 1)
        public String quote() {
            return "42";
        }
    }

    @RestControllerAdvice
    static class CatchAllAdvice {

        @ExceptionHandler(Exception.class)
        ResponseEntity<String> anything() {
            return ResponseEntity.internalServerError().body("sorry");
        }
    }

    @RestControllerAdvice
    static class OwnAdvice {

        @ExceptionHandler
        ResponseEntity<String> exceeded(RateLimitExceededException rejection) {
            return ResponseEntity.status(HttpStatus.PAYMENT_REQUIRED).body(rejection.getLimitName());
        }
    }

    @RestControllerAdvice
    static class OutboundAdvice {

        @ExceptionHandler
        ResponseEntity<String> exceeded(OutboundRateLimitExceededException rejection) {
            return ResponseEntity.status(HttpStatus.BAD_GATEWAY).body(rejection.getLimitName());
        }
    }

    @RestController
    static class CallingController {

        @GetMapping("/calling")
        public String calling() {
            RateLimitDecision rejected =
                    new RateLimitDecision(false, 1, 0, Duration.ZERO, Duration.ofSeconds(1), Duration.ofSeconds(1));
            throw OutboundRateLimitExceededException.of(new RateLimitExceededException("calls", rejected));
        }
    }

    @RestController
    static class HandlingController {

        @GetMapping("/handling")
        @RateLimited(rate = "1/s")
        public String handling() {
            return "42";
        }

        @ExceptionHandler
        ResponseEntity<String> exceeded(RateLimitExceededException rejection) {
            return ResponseEntity.status(HttpStatus.PAYMENT_REQUIRED).body(rejection.getLimitName());
        }
    }
}
