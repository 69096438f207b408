package io.ratelimit.graphql;

import graphql.ErrorClassification;
import graphql.GraphQLError;
import graphql.GraphqlErrorBuilder;
import graphql.schema.DataFetchingEnvironment;
import io.ratelimit.web.RejectionAnswer;
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
        RejectionAnswer answer = RejectionAnswer.to(failure);
        if (answer == null) {
            return null;
        }
        error.errorType(
                        switch (answer.kind()) {
                            case RATE_LIMITED -> RATE_LIMITED;
                            case UNAVAILABLE -> UNAVAILABLE;
                            case INVALID -> ErrorType.BAD_REQUEST;
                            case FAILED -> ErrorType.INTERNAL_ERROR;
                        })
                .message(answer.message());
        if (answer.retryAfterSeconds() != null) {
            error.extensions(Map.of("retryAfter", answer.retryAfterSeconds()));
        }
        return List.of(error.build());
    }
}
