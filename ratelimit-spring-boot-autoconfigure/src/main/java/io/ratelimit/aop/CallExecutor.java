package io.ratelimit.aop;

import io.ratelimit.expression.RequestCall;
import io.ratelimit.internal.concurrent.DaemonThreads;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.context.i18n.LocaleContext;
import org.springframework.context.i18n.LocaleContextHolder;
import org.springframework.context.i18n.SimpleTimeZoneAwareLocaleContext;
import org.springframework.context.i18n.TimeZoneAwareLocaleContext;
import org.springframework.util.function.SingletonSupplier;

/**
 * Continues calls on another thread, with the context of the calling thread, after an asynchronous decision: on the application's
 * executor {@link #BEAN_NAME}, otherwise on a pool whose threads end after a minute without work. The pool is unbounded, because
 * threads of a bounded one could all wait for calls that need a thread, too. This is no {@link Executor}, because Spring Boot would
 * use such a bean as the application's.
 */
public final class CallExecutor implements DisposableBean {

    /** The name of the application's executor. */
    public static final String BEAN_NAME = "rateLimitExecutor";

    private static final ThreadFactory threads = DaemonThreads.daemons("ratelimit-call");

    private final ExecutorService own = Executors.newCachedThreadPool(threads);

    private final SingletonSupplier<Executor> executor;

    private final UnaryOperator<Runnable> propagation;

    private volatile boolean closed;

    /**
     * @param ofApplication returns the application's executor; {@code null}: it has none
     * @param propagation wraps a task so that it runs with the context of the current thread
     */
    public CallExecutor(Supplier<@Nullable Executor> ofApplication, UnaryOperator<Runnable> propagation) {
        this.executor = new SingletonSupplier<>(ofApplication, () -> own);
        this.propagation = propagation;
    }

    /** Returns an executor for one later task, which runs with the current context of the current thread. */
    Executor withCallersContext() {
        AtomicReference<Runnable> later = new AtomicReference<>(() -> {});
        Runnable inContext;
        try {
            inContext =
                    withLocaleAndClassLoader(propagation.apply(() -> later.get().run()));
        } catch (RuntimeException ex) {
            return task -> {
                throw ex;
            };
        }
        return task -> {
            later.set(task);
            execute(inContext);
        };
    }

    /** Runs the task. After shutdown, each task gets a thread of its own. */
    private void execute(Runnable task) {
        try {
            executor.obtain().execute(task);
        } catch (RejectedExecutionException ex) {
            if (!closed) {
                throw ex;
            }
            threads.newThread(task).start();
        }
    }

    private static Runnable withLocaleAndClassLoader(Runnable task) {
        return RequestCall.Source.<@Nullable LocaleContext>carrying(
                callersLocale(),
                LocaleContextHolder::getLocaleContext,
                LocaleContextHolder::setLocaleContext,
                RequestCall.Source.carrying(
                        Thread.currentThread().getContextClassLoader(),
                        () -> Thread.currentThread().getContextClassLoader(),
                        loader -> Thread.currentThread().setContextClassLoader(loader),
                        task));
    }

    /** Returns what Spring otherwise reads from the request when it is asked, which may be after the end of that. */
    private static @Nullable LocaleContext callersLocale() {
        LocaleContext callers = LocaleContextHolder.getLocaleContext();
        return callers == null
                ? null
                : new SimpleTimeZoneAwareLocaleContext(
                        callers.getLocale(),
                        callers instanceof TimeZoneAwareLocaleContext zoned ? zoned.getTimeZone() : null);
    }

    @Override
    public void destroy() {
        closed = true;
        own.shutdownNow();
    }
}
