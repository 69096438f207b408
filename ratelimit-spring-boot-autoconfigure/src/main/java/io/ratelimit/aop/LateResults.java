package io.ratelimit.aop;

import java.lang.reflect.Method;
import java.lang.reflect.TypeVariable;
import java.util.Set;
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
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.core.annotation.MergedAnnotations.SearchStrategy;
import org.springframework.http.HttpEntity;

/** Determines which return types hide the end of a call. */
final class LateResults {

    private static final String ASYNC = "org.springframework.scheduling.annotation.Async";

    private static final String FLOW = "kotlinx.coroutines.flow.Flow";

    private static final String HTTP_ENTITY = "org.springframework.http.HttpEntity";

    /** Spring MVC completes the response after the handler method has returned them. */
    private static final Set<String> COMPLETED_LATER = Set.of(
            Callable.class.getName(),
            "org.springframework.web.context.request.async.DeferredResult",
            "org.springframework.web.context.request.async.WebAsyncTask",
            "org.springframework.web.servlet.mvc.method.annotation.ResponseBodyEmitter",
            "org.springframework.web.servlet.mvc.method.annotation.StreamingResponseBody");

    /** The caller reads their elements after the method has returned, and so computes them. */
    private static final Set<String> READ_LATER = Set.of(BaseStream.class.getName(), "kotlin.sequences.Sequence");

    /** Functional handlers return them. */
    private static final Set<String> RESPONSES_COMPLETED_LATER = Set.of(
            "org.springframework.web.servlet.function.AsyncServerResponse",
            "org.springframework.web.servlet.function.SseServerResponse",
            "org.springframework.web.servlet.function.StreamingServerResponse");

    /** Whether work goes on after a value of the class was returned. */
    private static final ClassValue<Boolean> GOING_ON = new ClassValue<>() {
        @Override
        protected Boolean computeValue(Class<?> type) {
            return ReactiveAdapterRegistry.getSharedInstance().getAdapter(type) != null
                    || Stream.of(COMPLETED_LATER, RESPONSES_COMPLETED_LATER, READ_LATER)
                            .anyMatch(names -> isAny(type, names));
        }
    };

    private static final ClassValue<Boolean> ENTITY = new ClassValue<>() {
        @Override
        protected Boolean computeValue(Class<?> type) {
            return isA(type, HTTP_ENTITY);
        }
    };

    private LateResults() {}

    /** Returns whether the work of a call goes on that has returned the value, which its declared type may not tell. */
    static boolean goesOnAfter(@Nullable Object value) {
        if (value == null || (value instanceof Future<?> future && future.isDone())) {
            return false;
        }
        return value instanceof Future
                || value instanceof CompletionStage
                || GOING_ON.get(value.getClass())
                || (ENTITY.get(value.getClass()) && goesOnAfter(Entities.body(value)));
    }

    /** Apart, because the type may be absent. */
    private static final class Entities {

        static @Nullable Object body(Object entity) {
            return ((HttpEntity<?>) entity).getBody();
        }
    }

    /** Returns the part of the return type whose work goes on unobserved, or {@code null} if the end of a call is observed. */
    static @Nullable Class<?> unobserved(Method method) {
        if (isPlainFuture(method.getReturnType()) || isHandedOver(method)) {
            return method.getReturnType();
        }
        ResolvableType declared = ResolvableType.forMethodParameter(new MethodParameter(method, -1));
        Class<?> type = declared.resolve();
        boolean arrives = KotlinDetector.isSuspendingFunction(method) && type != null && !isA(type, FLOW);
        return unobserved(declared, arrives);
    }

    /** Returns whether the type is {@code Future} or one such as {@code FutureTask}, whose end is not told. */
    static boolean isPlainFuture(Class<?> type) {
        return Future.class.isAssignableFrom(type) && !CompletionStage.class.isAssignableFrom(type);
    }

    /** Returns whether the method has no result and is asynchronous, so that it has returned before it begins. */
    static boolean isHandedOver(Method method) {
        return method.getReturnType() == void.class && isAsync(method);
    }

    private static boolean isAsync(Method method) {
        return MergedAnnotations.from(method, SearchStrategy.TYPE_HIERARCHY).isPresent(ASYNC)
                || MergedAnnotations.from(method.getDeclaringClass(), SearchStrategy.TYPE_HIERARCHY)
                        .isPresent(ASYNC);
    }

    /** @param inside whether it is the type of a value whose arrival ends the call */
    private static @Nullable Class<?> unobserved(ResolvableType declared, boolean inside) {
        Class<?> type = declared.resolve();
        if (type == null) {
            return null;
        }
        if ((inside && isAsynchronous(type)) || isAny(type, COMPLETED_LATER) || isAny(type, READ_LATER)) {
            return type;
        }
        // A type variable may be bounded by itself.
        return declared.getType() instanceof TypeVariable ? null : unobservedInside(declared);
    }

    private static boolean isAsynchronous(Class<?> type) {
        return Future.class.isAssignableFrom(type)
                || CompletionStage.class.isAssignableFrom(type)
                || ReactiveAdapterRegistry.getSharedInstance().getAdapter(type) != null;
    }

    private static @Nullable Class<?> unobservedInside(ResolvableType declared) {
        for (ResolvableType generic : declared.getGenerics()) {
            Class<?> unobserved = unobserved(generic, true);
            if (unobserved != null) {
                return unobserved;
            }
        }
        return null;
    }

    private static boolean isAny(Class<?> type, Set<String> names) {
        return names.stream().anyMatch(name -> isA(type, name));
    }

    /** The types may be absent, so they are compared by name. */
    private static boolean isA(Class<?> type, String name) {
        for (Class<?> known = type; known != null; known = known.getSuperclass()) {
            if (known.getName().equals(name)
                    || Stream.of(known.getInterfaces()).anyMatch(implemented -> isA(implemented, name))) {
                return true;
            }
        }
        return false;
    }
}
