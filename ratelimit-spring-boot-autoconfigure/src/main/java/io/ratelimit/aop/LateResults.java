package io.ratelimit.aop;

import java.lang.reflect.Method;
import java.lang.reflect.TypeVariable;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Future;
import java.util.stream.BaseStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.core.KotlinDetector;
import org.springframework.core.MethodParameter;
import org.springframework.core.ReactiveAdapterRegistry;
import org.springframework.core.ResolvableType;
import org.springframework.http.HttpEntity;
import org.springframework.util.ClassUtils;
import org.springframework.web.reactive.function.server.EntityResponse;

/** Determines which return types hide the end of a call. */
final class LateResults {

    private static final String ASYNC = "org.springframework.scheduling.annotation.Async";

    private static final String FLOW = "kotlinx.coroutines.flow.Flow";

    private static final boolean HTTP = isPresent("org.springframework.http.HttpEntity");

    private static final boolean WEBFLUX = isPresent("org.springframework.web.reactive.function.server.EntityResponse");

    /** Whether there are entities of publishers. */
    static final boolean STREAMED_ENTITIES = HTTP && isPresent("reactor.core.publisher.Flux");

    /**
     * Spring MVC completes the response after the handler method has returned the first ones. The caller reads the elements of the
     * others after the method has returned, and so computes them. A job of Kotlin goes on if the caller cancels its wait for it.
     * JAX-RS and gRPC go on with the last two.
     */
    private static final String[] COMPLETED_LATER = {
        Callable.class.getName(),
        "org.springframework.web.context.request.async.DeferredResult",
        "org.springframework.web.context.request.async.WebAsyncTask",
        "org.springframework.web.servlet.mvc.method.annotation.ResponseBodyEmitter",
        "org.springframework.web.servlet.mvc.method.annotation.StreamingResponseBody",
        BaseStream.class.getName(),
        "kotlin.sequences.Sequence",
        "kotlinx.coroutines.Job",
        "jakarta.ws.rs.core.StreamingOutput",
        "io.grpc.stub.StreamObserver"
    };

    /** A method with such a parameter answers after it has returned. */
    private static final String[] ANSWERED_LATER = {
        "jakarta.ws.rs.container.AsyncResponse", "jakarta.ws.rs.sse.SseEventSink"
    };

    /** Functional handlers return them. The last one writes what WebFlux does not show, such as server-sent events. */
    private static final String[] RESPONSES_COMPLETED_LATER = {
        "org.springframework.web.servlet.function.AsyncServerResponse",
        "org.springframework.web.servlet.function.SseServerResponse",
        "org.springframework.web.servlet.function.StreamingServerResponse",
        "org.springframework.web.reactive.function.server.DefaultServerResponseBuilder$BodyInserterResponse"
    };

    /** Whether work goes on after a value of the class was returned. */
    private static final ClassValue<Boolean> GOING_ON = new ClassValue<>() {
        @Override
        protected Boolean computeValue(Class<?> type) {
            return isAsynchronous(type)
                    || TypeHierarchy.isAny(type, COMPLETED_LATER)
                    || TypeHierarchy.isAny(type, RESPONSES_COMPLETED_LATER);
        }
    };

    private LateResults() {}

    private static boolean isPresent(String type) {
        return ClassUtils.isPresent(type, LateResults.class.getClassLoader());
    }

    /** Returns whether the work of a call goes on that has returned the value, which its declared type may not tell. */
    static boolean goesOnAfter(@Nullable Object value) {
        if (value == null || (value instanceof Future<?> future && future.isDone())) {
            return false;
        }
        return GOING_ON.get(value.getClass())
                || (HTTP && value instanceof HttpEntity<?> entity && goesOnAfter(entity.getBody()))
                || (WEBFLUX && value instanceof EntityResponse<?> response && goesOnAfter(response.entity()));
    }

    /** Returns the type of a parameter by which the method answers after it has returned, or {@code null} if there is none. */
    static @Nullable Class<?> answer(Method method) {
        return Stream.<@Nullable Class<?>>of(method.getParameterTypes())
                .filter(type -> TypeHierarchy.isAny(Objects.requireNonNull(type), ANSWERED_LATER))
                .findFirst()
                .orElse(null);
    }

    /** Returns the part of the return type whose work goes on unobserved, or {@code null} if the end of a call is observed. */
    static @Nullable Class<?> unobserved(Method method, Class<?> targetClass) {
        if (isPlainFuture(method.getReturnType()) || isHandedOver(method, targetClass)) {
            return method.getReturnType();
        }
        ResolvableType declared = ResolvableType.forMethodParameter(new MethodParameter(method, -1));
        Class<?> type = declared.resolve();
        boolean arrives =
                KotlinDetector.isSuspendingFunction(method) && type != null && !TypeHierarchy.isAny(type, FLOW);
        return unobserved(declared, arrives);
    }

    /** Returns whether the type is {@code Future} or one such as {@code FutureTask}, whose end is not told. */
    static boolean isPlainFuture(Class<?> type) {
        return Future.class.isAssignableFrom(type) && !CompletionStage.class.isAssignableFrom(type);
    }

    /** Returns whether the method has no result and is asynchronous, so that it has returned before it begins. */
    static boolean isHandedOver(Method method, Class<?> targetClass) {
        return method.getReturnType() == void.class
                && (TypeHierarchy.isAnnotated(method, ASYNC) || TypeHierarchy.isAnnotated(targetClass, ASYNC));
    }

    /** @param inside whether it is the type of a value whose arrival ends the call */
    private static @Nullable Class<?> unobserved(ResolvableType declared, boolean inside) {
        Class<?> type = declared.resolve();
        if (type == null) {
            return null;
        }
        if ((inside && isAsynchronous(type)) || TypeHierarchy.isAny(type, COMPLETED_LATER)) {
            return type;
        }
        // A type variable may be bounded by itself.
        return declared.getType() instanceof TypeVariable
                ? null
                : Stream.of(declared.getGenerics())
                        .<@Nullable Class<?>>map(generic -> unobserved(generic, true))
                        .filter(Objects::nonNull)
                        .findFirst()
                        .orElse(null);
    }

    private static boolean isAsynchronous(Class<?> type) {
        return Future.class.isAssignableFrom(type)
                || CompletionStage.class.isAssignableFrom(type)
                || ReactiveAdapterRegistry.getSharedInstance().getAdapter(type) != null;
    }
}
