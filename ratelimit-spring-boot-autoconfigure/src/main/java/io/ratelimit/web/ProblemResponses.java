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
        HttpStatusCode status = settings.status(exception);
        if (exception == null || status == null) {
            return null;
        }
        record.addIfTighter(exception, settings);
        return problem(exception, status).instance(instance(path)).build(messages, locale);
    }

    /** In a URI reference, the text after two slashes is a host. */
    private static URI instance(String path) {
        try {
            return URI.create(LEADING_SLASHES.matcher(path).replaceFirst("/"));
        } catch (IllegalArgumentException ex) {
            return URI.create("/");
        }
    }

    private ErrorResponse.Builder problem(RateLimitException exception, HttpStatusCode status) {
        if (exception instanceof RateLimitExceededException rejection) {
            return rejected(rejection, status);
        }
        if (exception instanceof RateLimitExpressionException failure) {
            return failed(failure, status);
        }
        return reduced(problem(exception, status, String.valueOf(exception.getMessage())));
    }

    /** The message arguments are the names of the limits and, if a later call can succeed, the seconds to wait. */
    private static ErrorResponse.Builder rejected(RateLimitExceededException rejection, HttpStatusCode status) {
        ErrorResponse.Builder problem = HttpStatus.TOO_MANY_REQUESTS.equals(status)
                ? problem(rejection, status, rejection.getMessage())
                        .type(QUOTA_EXCEEDED)
                        .title(QUOTA_EXCEEDED_TITLE)
                        .property("violated-policies", rejection.getLimitNames())
                // The quota is that of this application, so its limit is not named.
                : reduced(problem(rejection, status, "Another application must not be called at present"));
        String limits = String.join(", ", rejection.getLimitNames());
        Duration retryAfter = rejection.getDecision().retryAfter();
        if (retryAfter == null) {
            return problem.detailMessageArguments(limits);
        }
        String seconds = RateLimitHeaders.retryAfter(retryAfter);
        return problem.header(HttpHeaders.RETRY_AFTER, seconds).detailMessageArguments(limits, Long.valueOf(seconds));
    }

    /** The exception's message names classes, methods and expressions, so it is logged and not sent. */
    private ErrorResponse.Builder failed(RateLimitExpressionException failure, HttpStatusCode status) {
        settings.log(failure, status);
        if (!(failure instanceof RateLimitInputException invalid)) {
            return problem(failure, status, "The server cannot evaluate a rate limit of the request");
        }
        String limit = invalid.getLimitName();
        String detail = invalid instanceof MissingRateLimitKeyException
                ? "The request does not contain the key that rate limit '" + limit + "' requires"
                : "The request contains a value that rate limit '" + limit + "' cannot use";
        return problem(invalid, status, detail).detailMessageArguments(limit);
    }

    private static ErrorResponse.Builder reduced(ErrorResponse.Builder problem) {
        return problem.type(REDUCED_CAPACITY).title(REDUCED_CAPACITY_TITLE);
    }

    private static ErrorResponse.Builder problem(RuntimeException exception, HttpStatusCode status, String detail) {
        return ErrorResponse.builder(exception, status, detail)
                .header(HttpHeaders.CONTENT_TYPE, MediaType.APPLICATION_PROBLEM_JSON_VALUE);
    }
}
