package com.acme.acceptance;

import static org.assertj.core.api.Assertions.assertThat;

import io.grpc.Status;
import java.util.UUID;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Calls of gRPC with the starter of net.devh, whose rejections the advice of docs/protocols.md answers. */
@Tag("spring-boot-3")
class GrpcDevhTests {

    private static final Application APPLICATION = Application.start("grpc-devh");

    private static final GrpcClient CLIENT = new GrpcClient(APPLICATION);

    @AfterAll
    static void end() {
        CLIENT.close();
    }

    @Test
    void aRejectedCallIsAnExhaustedResource() {
        String user = UUID.randomUUID().toString();
        assertThat(CLIENT.call("quote", user)).isEqualTo("42");
        Status rejection = CLIENT.failure("quote", user).getStatus();
        assertThat(rejection.getCode()).isEqualTo(Status.Code.RESOURCE_EXHAUSTED);
        assertThat(rejection.getDescription()).isEqualTo("Rate limit 'quotes' exceeded");
        assertThat(APPLICATION.log()).doesNotContain("RateLimitExceededException", " ERROR ");
    }
}
