package io.ratelimit.grpc;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.InvalidProtocolBufferException;
import com.google.rpc.RetryInfo;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.protobuf.StatusProto;
import io.ratelimit.OutboundRateLimitExceededException;
import io.ratelimit.RateLimitDecision;
import io.ratelimit.RateLimitExceededException;
import io.ratelimit.RateLimitExpressionException;
import io.ratelimit.RateLimitInputException;
import io.ratelimit.RateLimitRefusedException;
import io.ratelimit.RateLimitStoreException;
import io.ratelimit.autoconfigure.LimitedContexts;
import io.ratelimit.autoconfigure.web.RateLimitGrpcAutoConfiguration;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.grpc.server.exception.GrpcExceptionHandler;
import org.springframework.grpc.server.exception.GrpcExceptionHandlerInterceptor;

/** Calls that Spring gRPC intercepts, and whose method throws. */
class GrpcRejectionTests {

    @Test
    void rejectionIsAnExhaustedResourceWithTheTimeToWait() throws InvalidProtocolBufferException {
        StatusRuntimeException answer = answerTo(rejection());
        assertThat(answer.getStatus().getCode()).isEqualTo(Status.Code.RESOURCE_EXHAUSTED);
        assertThat(answer.getStatus().getDescription()).isEqualTo("Rate limit 'quotes' exceeded");
        RetryInfo retry = StatusProto.fromThrowable(answer).getDetails(0).unpack(RetryInfo.class);
        assertThat(retry.getRetryDelay().getSeconds()).isEqualTo(2);
        assertThat(retry.getRetryDelay().getNanos()).isEqualTo(500_000_000);
    }

    @Test
    void callThatCanNeverSucceedHasNoTimeToWait() {
        StatusRuntimeException answer = answerTo(new RateLimitExceededException(
                "quotes", new RateLimitDecision(false, 1, 1, Duration.ZERO, null, Duration.ZERO)));
        assertThat(StatusProto.fromThrowable(answer).getDetailsCount()).isZero();
    }

    @Test
    void limitOfACallToAnotherApplicationIsUnavailableWithTheTimeToWait() {
        StatusRuntimeException answer = answerTo(OutboundRateLimitExceededException.of(rejection()));
        assertThat(answer.getStatus().getCode()).isEqualTo(Status.Code.UNAVAILABLE);
        assertThat(answer.getStatus().getDescription()).doesNotContain("quotes");
        assertThat(StatusProto.fromThrowable(answer).getDetailsCount()).isOne();
    }

    @Test
    void refusalIsUnavailable() {
        RateLimitStoreException failure =
                new RateLimitStoreException(RateLimitStoreException.Reason.TIMEOUT, "no answer", null);
        assertThat(answerTo(new RateLimitRefusedException(failure)).getStatus().getCode())
                .isEqualTo(Status.Code.UNAVAILABLE);
    }

    @Test
    void invalidValueIsAnInvalidArgumentAndNamesNoMethod() {
        Status status = answerTo(new RateLimitInputException("quotes", "in com.acme.Quotes", null))
                .getStatus();
        assertThat(status.getCode()).isEqualTo(Status.Code.INVALID_ARGUMENT);
        assertThat(status.getDescription()).doesNotContain("acme");
    }

    @Test
    void failingExpressionIsAnInternalErrorAndNamesNoMethod() {
        Status status = answerTo(new RateLimitExpressionException("in com.acme.Quotes", null))
                .getStatus();
        assertThat(status.getCode()).isEqualTo(Status.Code.INTERNAL);
        assertThat(status.getDescription()).doesNotContain("acme");
    }

    @Test
    void handlerOfTheApplicationComesFirst() {
        GrpcExceptionHandler own =
                failure -> failure instanceof RateLimitExceededException ? Status.ABORTED.asException() : null;
        assertThat(answerTo(rejection(), own).getStatus().getCode()).isEqualTo(Status.Code.ABORTED);
        assertThat(answerTo(new RateLimitInputException("quotes", "no key", null), own)
                        .getStatus()
                        .getCode())
                .isEqualTo(Status.Code.INVALID_ARGUMENT);
    }

    /** Then an answer has no details. */
    @Test
    void detailsAreOptional() {
        LimitedContexts.inMemory()
                .withConfiguration(AutoConfigurations.of(RateLimitGrpcAutoConfiguration.class))
                .withClassLoader(new FilteredClassLoader("com.google.rpc", "io.grpc.protobuf"))
                .run(context -> assertThat(context).hasSingleBean(GrpcRejectionHandler.class));
    }

    @Test
    void otherFailuresStayUnknown() {
        assertThat(answerTo(new IllegalStateException("a defect")).getStatus().getCode())
                .isEqualTo(Status.Code.UNKNOWN);
    }

    private static RateLimitExceededException rejection() {
        return new RateLimitExceededException("quotes", RateLimitDecision.ofMicros(1, 0, 0, 2_500_000, 2_500_000));
    }

    private static StatusRuntimeException answerTo(RuntimeException failure, GrpcExceptionHandler... own) {
        ClosedCall call = new ClosedCall();
        LimitedContexts.inMemory()
                .withConfiguration(AutoConfigurations.of(RateLimitGrpcAutoConfiguration.class))
                .withInitializer(context -> {
                    for (GrpcExceptionHandler handler : own) {
                        ((GenericApplicationContext) context)
                                .registerBean("own", GrpcExceptionHandler.class, () -> handler);
                    }
                })
                .run(context -> {
                    ServerCallHandler<String, String> method = (started, headers) -> {
                        throw failure;
                    };
                    new GrpcExceptionHandlerInterceptor(context.getBean(GrpcRejectionHandler.class))
                            .interceptCall(call, new Metadata(), method);
                });
        return call.status.asRuntimeException(call.trailers);
    }

    private static final class ClosedCall extends ServerCall<String, String> {

        private Status status = Status.OK;

        private Metadata trailers = new Metadata();

        @Override
        public void close(Status closedWith, Metadata closingTrailers) {
            status = closedWith;
            trailers = closingTrailers;
        }

        @Override
        public void request(int messages) {}

        @Override
        public void sendHeaders(Metadata headers) {}

        @Override
        public void sendMessage(String message) {}

        @Override
        public boolean isCancelled() {
            return false;
        }

        @Override
        public MethodDescriptor<String, String> getMethodDescriptor() {
            throw new UnsupportedOperationException();
        }
    }
}
