package io.ratelimit.web.servlet;

import io.ratelimit.expression.CallEnd;
import jakarta.servlet.http.HttpServletRequest;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpEntity;
import org.springframework.web.context.request.NativeWebRequest;
import org.springframework.web.context.request.async.CallableProcessingInterceptor;
import org.springframework.web.context.request.async.DeferredResult;
import org.springframework.web.context.request.async.DeferredResultProcessingInterceptor;
import org.springframework.web.context.request.async.WebAsyncManager;
import org.springframework.web.context.request.async.WebAsyncTask;
import org.springframework.web.context.request.async.WebAsyncUtils;
import org.springframework.web.servlet.mvc.method.annotation.ResponseBodyEmitter;
import org.springframework.web.servlet.mvc.method.annotation.StreamingResponseBody;
import org.springframework.web.util.DisconnectedClientHelper;

/**
 * Follows what a handler method has returned and Spring MVC completes on another thread: a value that is computed later, or an
 * object that writes the response. The call ends with its request, at the latest.
 *
 * @param followed the task that computes the value, or the object
 * @param writesResponse whether it is the object. Its task is one of Spring MVC
 */
record AsyncResult(Object followed, boolean writesResponse, CallEnd end)
        implements CallableProcessingInterceptor, DeferredResultProcessingInterceptor {

    /** Returns whether the result is completed later, and its end is told. */
    static boolean follow(HttpServletRequest request, Object result, CallEnd end) {
        Object body = result instanceof HttpEntity<?> entity ? entity.getBody() : result;
        Object task = result instanceof WebAsyncTask<?> async ? async.getCallable() : result;
        boolean writesResponse = body instanceof ResponseBodyEmitter || body instanceof StreamingResponseBody;
        if (!writesResponse && !(task instanceof Callable) && !(task instanceof DeferredResult)) {
            return false;
        }
        AsyncResult following = new AsyncResult(task, writesResponse, end);
        WebAsyncManager manager = WebAsyncUtils.getAsyncManager(request);
        manager.registerCallableInterceptor(following, following);
        manager.registerDeferredResultInterceptor(following, following);
        RequestCompletion.follow(request, following::over);
        return true;
    }

    @Override
    public <T> void postProcess(NativeWebRequest request, Callable<T> task, @Nullable Object value) {
        completed(task, value);
    }

    @Override
    public <T> void postProcess(NativeWebRequest request, DeferredResult<T> task, @Nullable Object value) {
        completed(task, value);
    }

    @SuppressWarnings("ReferenceEquality") // The request may have other tasks.
    private void completed(Object task, @Nullable Object value) {
        Throwable failure = value instanceof Throwable thrown ? thrown : null;
        if (writesResponse) {
            // A value is that of another task, such as a future whose value is the object.
            if (value == null || failure != null) {
                boolean disconnected =
                        failure != null && DisconnectedClientHelper.isClientDisconnectedException(failure);
                end.written(followed, disconnected ? null : failure);
            }
        } else if (task == followed && failure != null) {
            end.failed(failure);
        } else if (task == followed) {
            end.add(value);
            end.completed();
        }
    }

    private void over() {
        if (writesResponse) {
            end.written(followed, null);
        } else {
            end.cancelled();
        }
    }
}
