package io.ratelimit.aop;

import io.ratelimit.expression.RequestCall;
import io.ratelimit.internal.concurrent.DaemonThreads;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.springframework.context.i18n.LocaleContext;
import org.springframework.context.i18n.LocaleContextHolder;
import org.springframework.context.i18n.SimpleTimeZoneAwareLocaleContext;
import org.springframework.context.i18n.TimeZoneAwareLocaleContext;
import org.springframework.util.function.SingletonSupplier;

/**
 * Continues calls on another thread, with the context of the calling thread, after an asynchronous decision: on the application's
 * executor {@link #BEAN_NAME}, otherwise on an unbounded pool, because threads of a bounded one could all wait for calls that need a
 * thread, too. This is no {@link Executor}, because Spring Boot would use such a bean as the application's.
 */
public final class CallExecutor {

    /** The name of the application's executor. */
    public static final String BEAN_NAME = "rateLimitExecutor";

    private final SingletonSupplier<Executor> executor;

    private final UnaryOperator<Runnable> propagation;

    /**
     * @param ofApplication returns the application's executor; {@code null}: it has none
     * @param propagation wraps a task so that it runs with the context of the current thread
     */
    public CallExecutor(Supplier<@Nullable Executor> ofApplication, UnaryOperator<Runnable> propagation) {
        Executor own = DaemonThreads.createUnbounded("ratelimit-call");
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
            executor.obtain().execute(inContext);
        };
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
}
