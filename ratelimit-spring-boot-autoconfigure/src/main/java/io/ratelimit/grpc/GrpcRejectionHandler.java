package io.ratelimit.grpc;

import com.google.protobuf.Any;
import com.google.protobuf.Duration;
import com.google.rpc.Code;
import com.google.rpc.RetryInfo;
import com.google.rpc.Status;
import io.grpc.StatusException;
import io.grpc.protobuf.StatusProto;
import io.ratelimit.RateLimitException;
import io.ratelimit.web.RejectionAnswer;
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
        RejectionAnswer answer = RejectionAnswer.to(failure);
        if (answer == null) {
            return null;
        }
        Code code = switch (answer.kind()) {
            case RATE_LIMITED -> Code.RESOURCE_EXHAUSTED;
            case UNAVAILABLE -> Code.UNAVAILABLE;
            case INVALID -> Code.INVALID_ARGUMENT;
            case FAILED -> Code.INTERNAL;
        };
        Status.Builder status = Status.newBuilder().setCode(code.getNumber()).setMessage(answer.message());
        java.time.Duration retryAfter = answer.retryAfter();
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
