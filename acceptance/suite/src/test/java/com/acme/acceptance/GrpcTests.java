package com.acme.acceptance;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import com.google.protobuf.InvalidProtocolBufferException;
import com.google.rpc.RetryInfo;
import io.grpc.CallOptions;
import io.grpc.ManagedChannel;
import io.grpc.ManagedChannelBuilder;
import io.grpc.MethodDescriptor;
import io.grpc.MethodDescriptor.MethodType;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.protobuf.StatusProto;
import io.grpc.stub.ClientCalls;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;

/** Calls of gRPC, whose messages are texts. */
class GrpcTests {

    private static final Application APPLICATION = Application.start("grpc");

    private static final ManagedChannel CHANNEL = ManagedChannelBuilder.forAddress("127.0.0.1", APPLICATION.port())
            .usePlaintext()
            .build();

    @AfterAll
    static void end() {
        CHANNEL.shutdownNow();
    }

    @Test
    void aRejectedCallIsAnExhaustedResourceWithTheTimeToWait() throws InvalidProtocolBufferException {
        String user = UUID.randomUUID().toString();
        assertThat(call("quote", user)).isEqualTo("42");
        StatusRuntimeException rejection = failure("quote", user);
        assertThat(rejection.getStatus().getCode()).isEqualTo(Status.Code.RESOURCE_EXHAUSTED);
        assertThat(rejection.getStatus().getDescription()).isEqualTo("Rate limit 'quotes' exceeded");
        RetryInfo retry = StatusProto.fromThrowable(rejection).getDetails(0).unpack(RetryInfo.class);
        assertThat(retry.getRetryDelay().getSeconds()).isBetween(86_000L, 86_400L);
        assertThat(APPLICATION.log()).doesNotContain("RateLimitExceededException");
    }

    @Test
    void aCallWithoutItsKeyIsAnInvalidArgument() {
        assertThat(failure("quote", "").getStatus().getCode()).isEqualTo(Status.Code.INVALID_ARGUMENT);
    }

    @Test
    void aPermitIsHeldUntilTheMethodReturns() throws Exception {
        CompletableFuture<String> first = CompletableFuture.supplyAsync(() -> held());
        Await.until("the first call", () -> call("holding", "").equals("1"));
        assertThat(failure("held", "").getStatus().getCode()).isEqualTo(Status.Code.RESOURCE_EXHAUSTED);
        call("release", "");
        assertThat(first.get(60, TimeUnit.SECONDS)).isEqualTo("released");
        call("release", "");
        // The method answers before it returns.
        assertThat(Await.value("the permit", GrpcTests::heldOrNull)).isEqualTo("released");
    }

    private static String heldOrNull() {
        try {
            return held();
        } catch (StatusRuntimeException ex) {
            assertThat(ex.getStatus().getCode()).isEqualTo(Status.Code.RESOURCE_EXHAUSTED);
            return null;
        }
    }

    private static String held() {
        return call("held", "");
    }

    private static StatusRuntimeException failure(String method, String message) {
        return catchThrowableOfType(StatusRuntimeException.class, () -> call(method, message));
    }

    private static String call(String method, String message) {
        MethodDescriptor<String, String> unary = MethodDescriptor.<String, String>newBuilder(new Text(), new Text())
                .setType(MethodType.UNARY)
                .setFullMethodName("com.acme.Quotes/" + method)
                .build();
        return ClientCalls.blockingUnaryCall(
                CHANNEL, unary, CallOptions.DEFAULT.withDeadlineAfter(60, TimeUnit.SECONDS), message);
    }

    private static final class Text implements MethodDescriptor.Marshaller<String> {

        @Override
        public InputStream stream(String text) {
            return new ByteArrayInputStream(text.getBytes(StandardCharsets.UTF_8));
        }

        @Override
        public String parse(InputStream stream) {
            try {
                return new String(stream.readAllBytes(), StandardCharsets.UTF_8);
            } catch (IOException ex) {
                throw new UncheckedIOException(ex);
            }
        }
    }
}
