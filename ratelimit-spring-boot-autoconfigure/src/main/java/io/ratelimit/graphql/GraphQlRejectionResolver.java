package io.ratelimit.graphql;

import graphql.ErrorClassification;
import graphql.GraphQLError;
import graphql.GraphqlErrorBuilder;
import graphql.schema.DataFetchingEnvironment;
import io.ratelimit.OutboundRateLimitExceededException;
import io.ratelimit.RateLimitExceededException;
import io.ratelimit.RateLimitInputException;
import io.ratelimit.RateLimitRefusedException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.graphql.execution.DataFetcherExceptionResolver;
import org.springframework.graphql.execution.ErrorType;
import org.springframework.graphql.execution.SubscriptionExceptionResolver;
import reactor.core.publisher.Mono;

/**
 * Answers a rejected field with an error of the classification {@code RATE_LIMITED}, and one that this application cannot decide or
 * fetch at present with {@code UNAVAILABLE}. Spring would answer both as internal errors, each with a stack trace in the log.
 */
public final class GraphQlRejectionResolver implements DataFetcherExceptionResolver, SubscriptionExceptionResolver {

    private static final ErrorClassification RATE_LIMITED = ErrorClassification.errorClassification("RATE_LIMITED");

    private static final ErrorClassification UNAVAILABLE = ErrorClassification.errorClassification("UNAVAILABLE");

    @Override
    public Mono<List<GraphQLError>> resolveException(Throwable failure, DataFetchingEnvironment environment) {
        return Mono.justOrEmpty(error(failure, GraphqlErrorBuilder.newError(environment)));
    }

    /** Answers a rejected subscription, whose error ends it. */
    @Override
    public Mono<List<GraphQLError>> resolveException(Throwable failure) {
        return Mono.justOrEmpty(error(failure, GraphqlErrorBuilder.newError()));
    }

    private static @Nullable List<GraphQLError> error(Throwable failure, GraphqlErrorBuilder<?> error) {
        if (failure instanceof OutboundRateLimitExceededException rejection) {
            error.errorType(UNAVAILABLE).message("Another application must not be called at present");
            addRetryAfter(error, rejection);
        } else if (failure instanceof RateLimitExceededException rejection) {
            error.errorType(RATE_LIMITED).message(rejection.getMessage());
            addRetryAfter(error, rejection);
        } else if (failure instanceof RateLimitRefusedException refusal) {
            error.errorType(UNAVAILABLE).message(refusal.getMessage());
        } else if (failure instanceof RateLimitInputException invalid) {
            error.errorType(ErrorType.BAD_REQUEST)
                    .message("Rate limit '" + invalid.getLimitName() + "' lacks its key, or cannot use a value");
        } else {
            return null;
        }
        return List.of(error.build());
    }

    /** In seconds, as in HTTP. A call that can never succeed has none. */
    private static void addRetryAfter(GraphqlErrorBuilder<?> error, RateLimitExceededException rejection) {
        Duration retryAfter = rejection.getDecision().retryAfter();
        if (retryAfter != null) {
            long seconds = Math.max(1, retryAfter.plusNanos(999_999_999).toSeconds());
            error.extensions(Map.of("retryAfter", seconds));
        }
    }
}
