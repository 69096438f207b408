package com.acme.acceptance;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.InvalidProtocolBufferException;
import com.google.rpc.RetryInfo;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.protobuf.StatusProto;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;

/** Calls of gRPC, whose messages are texts. */
class GrpcTests {

    private static final Application APPLICATION = Application.start("grpc");

    private static final GrpcClient CLIENT = new GrpcClient(APPLICATION);

    @AfterAll
    static void end() {
        CLIENT.close();
    }

    @Test
    void aRejectedCallIsAnExhaustedResourceWithTheTimeToWait() throws InvalidProtocolBufferException {
        String user = UUID.randomUUID().toString();
        assertThat(CLIENT.call("quote", user)).isEqualTo("42");
        StatusRuntimeException rejection = CLIENT.failure("quote", user);
        assertThat(rejection.getStatus().getCode()).isEqualTo(Status.Code.RESOURCE_EXHAUSTED);
        assertThat(rejection.getStatus().getDescription()).isEqualTo("Rate limit 'quotes' exceeded");
        RetryInfo retry = StatusProto.fromThrowable(rejection).getDetails(0).unpack(RetryInfo.class);
        assertThat(retry.getRetryDelay().getSeconds()).isBetween(86_000L, 86_400L);
        assertThat(APPLICATION.log()).doesNotContain("RateLimitExceededException");
    }

    @Test
    void aCallWithoutItsKeyIsAnInvalidArgument() {
        assertThat(CLIENT.failure("quote", "").getStatus().getCode()).isEqualTo(Status.Code.INVALID_ARGUMENT);
    }

    @Test
    void aPermitIsHeldUntilTheMethodReturns() throws Exception {
        CompletableFuture<String> first = CompletableFuture.supplyAsync(() -> held());
        Await.until("the first call", () -> CLIENT.call("holding", "").equals("1"));
        assertThat(CLIENT.failure("held", "").getStatus().getCode()).isEqualTo(Status.Code.RESOURCE_EXHAUSTED);
        CLIENT.call("release", "");
        assertThat(first.get(60, TimeUnit.SECONDS)).isEqualTo("released");
        CLIENT.call("release", "");
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
        return CLIENT.call("held", "");
    }
}
