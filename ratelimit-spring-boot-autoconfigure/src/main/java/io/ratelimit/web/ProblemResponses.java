package io.ratelimit.web;

import io.ratelimit.MissingRateLimitKeyException;
import io.ratelimit.RateLimitExceededException;
import io.ratelimit.RateLimitException;
import io.ratelimit.RateLimitExpressionException;
import io.ratelimit.RateLimitInputException;
import java.net.URI;
import java.time.Duration;
import java.util.Locale;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.springframework.context.MessageSource;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.HttpStatusCode;
import org.springframework.http.MediaType;
import org.springframework.web.ErrorResponse;

/**
 * Builds the RFC 9457 response to an exception of a rate limit, regardless of the accepted media types. The application's
 * messages take precedence, under the codes that Spring uses for all problems: {@code problemDetail.},
 * {@code problemDetail.title.} and {@code problemDetail.type.}, each followed by the exception's class.
 *
 * @see <a href="https://www.rfc-editor.org/rfc/rfc9457">RFC 9457, Problem Details for HTTP APIs</a>
 */
public record ProblemResponses(MessageSource messages, WebSettings settings) {

    private static final URI QUOTA_EXCEEDED =
            URI.create("https://iana.org/assignments/http-problem-types#quota-exceeded");

    /** The title that the draft of the rate limit headers registers for the type. */
    private static final String QUOTA_EXCEEDED_TITLE =
            "Request cannot be satisfied as assigned quota has been exceeded";

    private static final URI REDUCED_CAPACITY =
            URI.create("https://iana.org/assignments/http-problem-types#temporary-reduced-capacity");

    private static final String REDUCED_CAPACITY_TITLE =
            "Request cannot be satisfied due to temporary server capacity constraints";

    private static final Pattern LEADING_SLASHES = Pattern.compile("^//+");

    /**
     * Builds the response to a failure that a rate limit has thrown or caused.
     *
     * @param path the path of the request
     * @param record receives what a rejection knows of its limit
     * @return {@code null} if the failure does not come from a rate limit
     */
    @Nullable
    public ErrorResponse of(Throwable failure, String path, Locale locale, HeaderRecord record) {
        RateLimitException exception = settings.find(failure);
        if (exception == null) {
            return null;
        }
        record.addIfTighter(exception, settings);
        ErrorResponse problem;
        if (exception instanceof RateLimitExceededException rejection) {
            problem = settings.isQuotaOfCaller(rejection) ? exceeded(rejection, locale) : outbound(rejection, locale);
        } else if (exception instanceof RateLimitInputException invalid) {
            problem = invalid(invalid, locale);
        } else if (exception instanceof RateLimitExpressionException failed) {
            problem = failed(failed, locale);
        } else {
            problem = refused(exception, locale);
        }
        problem.getBody().setInstance(instance(path));
        return problem;
    }

    /** In a URI reference, the text after two slashes is a host. */
    private static URI instance(String path) {
        try {
            return URI.create(LEADING_SLASHES.matcher(path).replaceFirst("/"));
        } catch (IllegalArgumentException ex) {
            return URI.create("/");
        }
    }

    public ErrorResponse exceeded(RateLimitExceededException rejection, Locale locale) {
        return build(
                problem(rejection, HttpStatus.TOO_MANY_REQUESTS, rejection.getMessage())
                        .type(QUOTA_EXCEEDED)
                        .title(QUOTA_EXCEEDED_TITLE)
                        .property("violated-policies", rejection.getLimitNames()),
                rejection,
                locale);
    }

    /** The quota is that of this application, so its limit is not named. */
    private ErrorResponse outbound(RateLimitExceededException rejection, Locale locale) {
        return build(
                problem(rejection, settings.outboundStatus(), "Another application must not be called at present")
                        .type(REDUCED_CAPACITY)
                        .title(REDUCED_CAPACITY_TITLE),
                rejection,
                locale);
    }

    /** The message arguments are the names of the limits and, if a later call can succeed, the seconds to wait. */
    private ErrorResponse build(ErrorResponse.Builder problem, RateLimitExceededException rejection, Locale locale) {
        String limits = String.join(", ", rejection.getLimitNames());
        Duration retryAfter = rejection.getDecision().retryAfter();
        if (retryAfter == null) {
            problem.detailMessageArguments(limits);
        } else {
            String seconds = RateLimitHeaders.retryAfter(retryAfter);
            problem.header(HttpHeaders.RETRY_AFTER, seconds).detailMessageArguments(limits, Long.valueOf(seconds));
        }
        return problem.build(messages, locale);
    }

    private ErrorResponse refused(RuntimeException refusal, Locale locale) {
        return problem(refusal, HttpStatus.SERVICE_UNAVAILABLE, String.valueOf(refusal.getMessage()))
                .type(REDUCED_CAPACITY)
                .title(REDUCED_CAPACITY_TITLE)
                .build(messages, locale);
    }

    /** The exception's message names classes and methods, so it is logged and not sent. */
    private ErrorResponse invalid(RateLimitInputException invalid, Locale locale) {
        settings.logInvalid(invalid);
        String limit = invalid.getLimitName();
        String detail = invalid instanceof MissingRateLimitKeyException
                ? "The request does not contain the key that rate limit '" + limit + "' requires"
                : "The request contains a value that rate limit '" + limit + "' cannot use";
        return problem(invalid, settings.invalidRequestStatus(), detail)
                .detailMessageArguments(limit)
                .build(messages, locale);
    }

    /** For each request, as for an invalid one, the exception is logged at most once a minute. */
    private ErrorResponse failed(RateLimitExpressionException failure, Locale locale) {
        settings.logFailed(failure);
        return problem(
                        failure,
                        HttpStatus.INTERNAL_SERVER_ERROR,
                        "The server cannot evaluate a rate limit of the request")
                .build(messages, locale);
    }

    private static ErrorResponse.Builder problem(RuntimeException exception, HttpStatusCode status, String detail) {
        return ErrorResponse.builder(exception, status, detail)
                .header(HttpHeaders.CONTENT_TYPE, MediaType.APPLICATION_PROBLEM_JSON_VALUE);
    }
}
