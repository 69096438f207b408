package io.ratelimit.grpc;

import com.google.protobuf.Any;
import com.google.protobuf.Duration;
import com.google.rpc.RetryInfo;
import io.grpc.Status;
import io.grpc.StatusException;
import io.grpc.protobuf.StatusProto;
import io.ratelimit.RateLimitException;
import io.ratelimit.web.RejectionAnswer;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.grpc.server.exception.GrpcExceptionHandler;
import org.springframework.util.ClassUtils;

/**
 * Answers a rejected call with {@code RESOURCE_EXHAUSTED}, and one that cannot be decided or made at present with
 * {@code UNAVAILABLE}, a rejection with the time to wait as {@code RetryInfo}. Spring would answer both with {@code UNKNOWN}.
 *
 * @param all handlers. Those of the application come first: Spring gRPC does not order them
 */
public record GrpcRejectionHandler(ObjectProvider<GrpcExceptionHandler> all) implements GrpcExceptionHandler {

    /** Spring gRPC 0.12 does not bring them. */
    private static final boolean DETAILED = ClassUtils.isPresent(
                    "com.google.rpc.RetryInfo", GrpcRejectionHandler.class.getClassLoader())
            && ClassUtils.isPresent("io.grpc.protobuf.StatusProto", GrpcRejectionHandler.class.getClassLoader());

    @Override
    public @Nullable StatusException handleException(Throwable failure) {
        return failure instanceof RateLimitException
                ? all.orderedStream()
                        .filter(handler -> handler != this)
                        .map(handler -> handler.handleException(failure))
                        .filter(Objects::nonNull)
                        .findFirst()
                        .orElseGet(() -> answer(failure))
                : null;
    }

    private static @Nullable StatusException answer(Throwable failure) {
        RejectionAnswer answer = RejectionAnswer.to(failure);
        if (answer == null) {
            return null;
        }
        Status.Code code = switch (answer.kind()) {
            case RATE_LIMITED -> Status.Code.RESOURCE_EXHAUSTED;
            case UNAVAILABLE -> Status.Code.UNAVAILABLE;
            case INVALID -> Status.Code.INVALID_ARGUMENT;
            case FAILED -> Status.Code.INTERNAL;
        };
        return DETAILED && answer.retryAfter() != null
                ? Details.answer(code, answer.message(), answer.retryAfter())
                : Status.fromCode(code).withDescription(answer.message()).asException();
    }

    /** Apart, because the types may be absent. */
    private static final class Details {

        static StatusException answer(Status.Code code, String message, java.time.Duration retryAfter) {
            return StatusProto.toStatusException(com.google.rpc.Status.newBuilder()
                    .setCode(code.value())
                    .setMessage(message)
                    .addDetails(Any.pack(RetryInfo.newBuilder()
                            .setRetryDelay(Duration.newBuilder()
                                    .setSeconds(retryAfter.getSeconds())
                                    .setNanos(retryAfter.getNano()))
                            .build()))
                    .build());
        }
    }
}
