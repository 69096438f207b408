package com.acme;

import io.grpc.BindableService;
import io.grpc.MethodDescriptor;
import io.grpc.MethodDescriptor.MethodType;
import io.grpc.ServerServiceDefinition;
import io.grpc.stub.ServerCalls;
import io.grpc.stub.ServerCalls.UnaryMethod;
import io.grpc.stub.StreamObserver;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;

/** As generated code, for messages that are texts. */
public abstract class TextService implements BindableService, MethodDescriptor.Marshaller<String> {

    public abstract void quote(String user, StreamObserver<String> answers);

    public abstract void held(String nothing, StreamObserver<String> answers);

    public abstract void holding(String nothing, StreamObserver<String> answers);

    public abstract void release(String nothing, StreamObserver<String> answers);

    @Override
    public final ServerServiceDefinition bindService() {
        return ServerServiceDefinition.builder("com.acme.Quotes")
                .addMethod(unary("quote"), ServerCalls.asyncUnaryCall((UnaryMethod<String, String>) this::quote))
                .addMethod(unary("held"), ServerCalls.asyncUnaryCall((UnaryMethod<String, String>) this::held))
                .addMethod(unary("holding"), ServerCalls.asyncUnaryCall((UnaryMethod<String, String>) this::holding))
                .addMethod(unary("release"), ServerCalls.asyncUnaryCall((UnaryMethod<String, String>) this::release))
                .build();
    }

    private MethodDescriptor<String, String> unary(String name) {
        return MethodDescriptor.<String, String>newBuilder(this, this)
                .setType(MethodType.UNARY)
                .setFullMethodName("com.acme.Quotes/" + name)
                .build();
    }

    @Override
    public final InputStream stream(String text) {
        return new ByteArrayInputStream(text.getBytes(StandardCharsets.UTF_8));
    }

    @Override
    public final String parse(InputStream stream) {
        try {
            return new String(stream.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }
}
