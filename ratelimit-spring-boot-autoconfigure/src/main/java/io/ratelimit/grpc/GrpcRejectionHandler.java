package io.ratelimit.grpc;

import com.google.protobuf.Any;
import com.google.protobuf.Duration;
import com.google.rpc.Code;
import com.google.rpc.RetryInfo;
import com.google.rpc.Status;
import io.grpc.StatusException;
import io.grpc.protobuf.StatusProto;
import io.ratelimit.OutboundRateLimitExceededException;
import io.ratelimit.RateLimitExceededException;
import io.ratelimit.RateLimitException;
import io.ratelimit.RateLimitInputException;
import io.ratelimit.RateLimitRefusedException;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.grpc.server.exception.GrpcExceptionHandler;

/**
 * Answers a rejected call with {@code RESOURCE_EXHAUSTED}, and one that cannot be decided or made at present with
 * {@code UNAVAILABLE}, a rejection with the time to wait as {@code RetryInfo}. Spring would answer both with {@code UNKNOWN}.
 */
public final class GrpcRejectionHandler implements GrpcExceptionHandler {

    private final ObjectProvider<GrpcExceptionHandler> all;

    /** @param all handlers. Those of the application come first: Spring gRPC does not order them */
    public GrpcRejectionHandler(ObjectProvider<GrpcExceptionHandler> all) {
        this.all = all;
    }

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
        if (failure instanceof OutboundRateLimitExceededException rejection) {
            return exception(status(Code.UNAVAILABLE, "Another application must not be called at present"), rejection);
        }
        if (failure instanceof RateLimitExceededException rejection) {
            return exception(status(Code.RESOURCE_EXHAUSTED, rejection.getMessage()), rejection);
        }
        if (failure instanceof RateLimitRefusedException refusal) {
            return StatusProto.toStatusException(status(Code.UNAVAILABLE, String.valueOf(refusal.getMessage()))
                    .build());
        }
        if (failure instanceof RateLimitInputException invalid) {
            String message = "Rate limit '" + invalid.getLimitName() + "' lacks its key, or cannot use a value";
            return StatusProto.toStatusException(
                    status(Code.INVALID_ARGUMENT, message).build());
        }
        return null;
    }

    private static Status.Builder status(Code code, String message) {
        return Status.newBuilder().setCode(code.getNumber()).setMessage(message);
    }

    /** A call that can never succeed has no time to wait. */
    private static StatusException exception(Status.Builder status, RateLimitExceededException rejection) {
        java.time.Duration retryAfter = rejection.getDecision().retryAfter();
        if (retryAfter != null) {
            status.addDetails(Any.pack(RetryInfo.newBuilder()
                    .setRetryDelay(Duration.newBuilder()
                            .setSeconds(retryAfter.getSeconds())
                            .setNanos(retryAfter.getNano()))
                    .build()));
        }
        return StatusProto.toStatusException(status.build());
    }
}
