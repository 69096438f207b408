package io.ratelimit.web.servlet;

import io.ratelimit.expression.CallEnd;
import jakarta.servlet.http.HttpServletRequest;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpEntity;
import org.springframework.util.ClassUtils;
import org.springframework.web.context.request.NativeWebRequest;
import org.springframework.web.context.request.async.CallableProcessingInterceptor;
import org.springframework.web.context.request.async.DeferredResult;
import org.springframework.web.context.request.async.DeferredResultProcessingInterceptor;
import org.springframework.web.context.request.async.WebAsyncManager;
import org.springframework.web.context.request.async.WebAsyncTask;
import org.springframework.web.context.request.async.WebAsyncUtils;
import org.springframework.web.util.DisconnectedClientHelper;

/**
 * Follows what a handler method has returned and Spring MVC completes on another thread: a value that is computed later, or an
 * object that writes the response. The call ends with its request, at the latest.
 */
final class AsyncResult {

    private static final ClassValue<Boolean> WRITES_RESPONSE = new ClassValue<>() {

        /** Without Spring MVC, the types are absent. */
        @Override
        protected Boolean computeValue(Class<?> type) {
            String mvc = "org.springframework.web.servlet.mvc.method.annotation.";
            for (Class<?> known = type; known != null; known = known.getSuperclass()) {
                if (known.getName().equals(mvc + "ResponseBodyEmitter")) {
                    return true;
                }
            }
            return ClassUtils.getAllInterfacesForClassAsSet(type).stream()
                    .anyMatch(implemented -> implemented.getName().equals(mvc + "StreamingResponseBody"));
        }
    };

    private AsyncResult() {}

    /** Returns whether the result is completed later, and its end is told. */
    static boolean follow(HttpServletRequest request, Object result, CallEnd end) {
        Object body = result instanceof HttpEntity<?> entity ? entity.getBody() : result;
        if (body != null && WRITES_RESPONSE.get(body.getClass())) {
            register(request, new OfWriter(result, end));
        } else if (result instanceof WebAsyncTask<?> task) {
            register(request, new OfValue(task.getCallable(), end));
        } else if (result instanceof Callable || result instanceof DeferredResult) {
            register(request, new OfValue(result, end));
        } else {
            return false;
        }
        return true;
    }

    private static void register(HttpServletRequest request, Following following) {
        WebAsyncManager manager = WebAsyncUtils.getAsyncManager(request);
        manager.registerCallableInterceptor(following, following);
        manager.registerDeferredResultInterceptor(following, following);
        RequestCompletion.follow(request, following::over);
    }

    /** Receives the result of a task, if it has one, from Spring MVC, and in any case the end of its request. */
    private interface Following extends CallableProcessingInterceptor, DeferredResultProcessingInterceptor {

        void result(Object task, @Nullable Object value);

        void over();

        @Override
        default <T> void postProcess(NativeWebRequest request, Callable<T> task, @Nullable Object value) {
            result(task, value);
        }

        @Override
        default <T> void postProcess(NativeWebRequest request, DeferredResult<T> task, @Nullable Object value) {
            result(task, value);
        }
    }

    /** The task computes a value. */
    private record OfValue(Object followed, CallEnd end) implements Following {

        @Override
        @SuppressWarnings("ReferenceEquality") // The request may have other tasks.
        public void result(Object task, @Nullable Object value) {
            if (task != followed) {
                return;
            }
            if (value instanceof Throwable failure) {
                end.failed(failure);
            } else {
                end.add(value);
                end.completed();
            }
        }

        @Override
        public void over() {
            end.cancelled();
        }
    }

    /** The task is of Spring MVC, and lets an object write the response. */
    private record OfWriter(Object writer, CallEnd end) implements Following {

        @Override
        public void result(Object task, @Nullable Object value) {
            if (value != null && !(value instanceof Throwable)) {
                // Of another task, such as a future whose value is the object.
                return;
            }
            boolean failed = value instanceof Throwable failure
                    && !DisconnectedClientHelper.isClientDisconnectedException(failure);
            end.written(writer, failed ? (Throwable) value : null);
        }

        @Override
        public void over() {
            end.written(writer, null);
        }
    }
}
