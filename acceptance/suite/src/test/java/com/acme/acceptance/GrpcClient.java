package com.acme.acceptance;

import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.grpc.CallOptions;
import io.grpc.ManagedChannel;
import io.grpc.ManagedChannelBuilder;
import io.grpc.MethodDescriptor;
import io.grpc.MethodDescriptor.MethodType;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.ClientCalls;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;

/** A client of gRPC, whose messages are texts. */
final class GrpcClient implements AutoCloseable {

    private final ManagedChannel channel;

    GrpcClient(Application application) {
        channel = ManagedChannelBuilder.forAddress("127.0.0.1", application.port())
                .usePlaintext()
                .build();
    }

    StatusRuntimeException failure(String method, String message) {
        return catchThrowableOfType(StatusRuntimeException.class, () -> call(method, message));
    }

    String call(String method, String message) {
        MethodDescriptor<String, String> unary = MethodDescriptor.<String, String>newBuilder(new Text(), new Text())
                .setType(MethodType.UNARY)
                .setFullMethodName("com.acme.Quotes/" + method)
                .build();
        return ClientCalls.blockingUnaryCall(
                channel, unary, CallOptions.DEFAULT.withDeadlineAfter(60, TimeUnit.SECONDS), message);
    }

    @Override
    public void close() {
        channel.shutdownNow();
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
