package com.acme;

import io.grpc.Status;
import io.ratelimit.RateLimitExceededException;
import io.ratelimit.RateLimitRefusedException;
import net.devh.boot.grpc.server.advice.GrpcAdvice;
import net.devh.boot.grpc.server.advice.GrpcExceptionHandler;

/** As docs/protocols.md recommends. */
@GrpcAdvice
public class Rejections {

    @GrpcExceptionHandler
    public Status rejected(RateLimitExceededException rejection) {
        return Status.RESOURCE_EXHAUSTED.withDescription(rejection.getMessage());
    }

    @GrpcExceptionHandler
    public Status refused(RateLimitRefusedException refusal) {
        return Status.UNAVAILABLE.withDescription(refusal.getMessage());
    }
}
