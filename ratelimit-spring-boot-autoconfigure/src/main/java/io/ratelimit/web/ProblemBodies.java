package io.ratelimit.web;

import io.ratelimit.MissingRateLimitKeyException;
import io.ratelimit.RateLimitExceededException;
import io.ratelimit.RateLimitRefusedException;
import java.net.URI;
import java.time.Duration;
import java.util.Locale;
import java.util.function.Consumer;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.springframework.context.MessageSource;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.HttpStatusCode;
import org.springframework.http.MediaType;
import org.springframework.web.ErrorResponse;

/**
 * What a caller gets to read instead of an answer, whatever it accepts. Messages of the application go before ours, under
 * the codes that Spring has for all problems: {@code problemDetail.}, {@code problemDetail.title.} and
 * {@code problemDetail.type.}, each followed by the exception's class.
 *
 * @see <a href="https://www.rfc-editor.org/rfc/rfc9457">RFC 9457, Problem Details for HTTP APIs</a>
 */
public final class ProblemBodies {

    private static final URI QUOTA_EXCEEDED =
            URI.create("https://iana.org/assignments/http-problem-types#quota-exceeded");

    /** As the draft of the rate limit fields registers it. A type's title is always the same. */
    private static final String QUOTA_EXCEEDED_TITLE =
            "Request cannot be satisfied as assigned quota has been exceeded";

    private static final URI REDUCED_CAPACITY =
            URI.create("https://iana.org/assignments/http-problem-types#temporary-reduced-capacity");

    private static final String REDUCED_CAPACITY_TITLE =
            "Request cannot be satisfied due to temporary server capacity constraints";

    private static final Pattern SLASHES = Pattern.compile("^//+");

    private final MessageSource messages;

    private final WebSettings settings;

    public ProblemBodies(MessageSource messages, WebSettings settings) {
        this.messages = messages;
        this.settings = settings;
    }

    /**
     * What to answer to a failure of a limit, or one that it has caused.
     *
     * @param path the request's
     * @param record is told what a rejection knows of its limit
     * @return {@code null}: it is no failure of a limit
     */
    @Nullable
    public ErrorResponse of(Throwable failure, String path, Locale locale, Consumer<QuotaStatus> record) {
        RuntimeException ours = LimitExceptions.among(failure);
        if (ours instanceof RateLimitExceededException rejection) {
            settings.standing(rejection).ifPresent(record);
        }
        ErrorResponse problem = ours == null ? null : of(ours, locale);
        if (problem != null) {
            problem.getBody().setInstance(instance(path));
        }
        return problem;
    }

    /** As a reference, what follows two slashes would be a host. */
    private static URI instance(String path) {
        try {
            return URI.create(SLASHES.matcher(path).replaceFirst("/"));
        } catch (IllegalArgumentException ex) {
            return URI.create("/");
        }
    }

    private @Nullable ErrorResponse of(RuntimeException ours, Locale locale) {
        if (ours instanceof RateLimitExceededException rejection) {
            return exceeded(rejection, locale);
        }
        if (ours instanceof RateLimitRefusedException refusal) {
            return refused(refusal, locale);
        }
        return ours instanceof MissingRateLimitKeyException missing ? missingKey(missing, locale) : null;
    }

    /** The messages' arguments are the names of the limits and, where there is one, the seconds to wait. */
    public ErrorResponse exceeded(RateLimitExceededException rejection, Locale locale) {
        String limits = String.join(", ", rejection.getLimitNames());
        ErrorResponse.Builder problem = problem(rejection, HttpStatus.TOO_MANY_REQUESTS)
                .type(QUOTA_EXCEEDED)
                .title(QUOTA_EXCEEDED_TITLE)
                .property("violated-policies", rejection.getLimitNames());
        Duration retryAfter = rejection.getDecision().retryAfter();
        if (retryAfter == null) {
            problem.detailMessageArguments(limits);
        } else {
            long seconds = Math.max(1, WholeSeconds.of(retryAfter));
            problem.header(HttpHeaders.RETRY_AFTER, Long.toString(seconds)).detailMessageArguments(limits, seconds);
        }
        return problem.build(messages, locale);
    }

    private ErrorResponse refused(RateLimitRefusedException refusal, Locale locale) {
        return problem(refusal, HttpStatus.SERVICE_UNAVAILABLE)
                .type(REDUCED_CAPACITY)
                .title(REDUCED_CAPACITY_TITLE)
                .build(messages, locale);
    }

    /** The exception's message names classes and methods, which callers need not know. */
    private ErrorResponse missingKey(MissingRateLimitKeyException missing, Locale locale) {
        settings.missingKeys().log(missing);
        String limit = missing.getLimitName();
        return problem(
                        missing,
                        settings.missingKeys().status(),
                        "The request does not contain the key that rate limit '" + limit + "' requires")
                .detailMessageArguments(limit)
                .build(messages, locale);
    }

    private static ErrorResponse.Builder problem(RuntimeException exception, HttpStatusCode status) {
        return problem(exception, status, String.valueOf(exception.getMessage()));
    }

    private static ErrorResponse.Builder problem(RuntimeException exception, HttpStatusCode status, String detail) {
        return ErrorResponse.builder(exception, status, detail)
                .header(HttpHeaders.CONTENT_TYPE, MediaType.APPLICATION_PROBLEM_JSON_VALUE);
    }
}
