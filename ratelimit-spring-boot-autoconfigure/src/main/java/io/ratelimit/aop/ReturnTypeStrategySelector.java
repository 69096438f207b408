package io.ratelimit.aop;

import io.ratelimit.RateLimitConfigurationException;
import io.ratelimit.expression.CallerFacts;
import io.ratelimit.expression.ReactiveRequestCallSource;
import io.ratelimit.expression.RequestCall;
import java.lang.reflect.Method;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Future;
import org.jspecify.annotations.Nullable;
import org.springframework.core.KotlinDetector;
import org.springframework.core.MethodParameter;
import org.springframework.core.ReactiveAdapter;
import org.springframework.core.ReactiveAdapterRegistry;
import org.springframework.util.ClassUtils;

/**
 * Selects the strategy for the return type of a method.
 *
 * @param ofContext {@code null} without Reactor
 * @param executor runs methods after an asynchronous decision
 */
public record ReturnTypeStrategySelector(
        RequestCall.Source ofThread, @Nullable ReactiveRequestCallSource ofContext, CallExecutor executor) {

    private static final String COROUTINES_REACTOR = "kotlinx.coroutines.reactor.MonoKt";

    private static final String PUBLISHER = "org.reactivestreams.Publisher";

    private static final String KOTLIN_FLOW = "kotlinx.coroutines.flow.Flow";

    private static final String KOTLIN_DEFERRED = "kotlinx.coroutines.Deferred";

    /** @throws RateLimitConfigurationException if the return type cannot carry a rejection */
    ReturnTypeStrategy of(Method method) {
        Class<?> type = method.getReturnType();
        if (KotlinDetector.isSuspendingFunction(method)) {
            return suspending(method);
        }
        if (CompletionStage.class.isAssignableFrom(type)) {
            checkReturnable(CompletableFuture.class, type);
            return new FutureStrategy(ofThread, executor);
        }
        if (Future.class == type) {
            return new BlockingStrategy(ofThread, true);
        }
        ReactiveAdapter adapter = ReactiveAdapterRegistry.getSharedInstance().getAdapter(type);
        if (adapter != null && ofContext != null) {
            checkReturnable(adapter.getReactiveType(), type);
            return new ReactiveStrategy(adapter, adapter.isMultiValue(), ofThread, ofContext, executor);
        }
        if (TypeHierarchy.isAny(type, KOTLIN_FLOW, KOTLIN_DEFERRED)) {
            throw without("a function that returns a Flow or a Deferred");
        }
        if (adapter != null || TypeHierarchy.isAny(type, PUBLISHER)) {
            throw new RateLimitConfigurationException(
                    "a method that returns " + type.getName() + " cannot be limited without Reactor.",
                    "Add io.projectreactor:reactor-core.");
        }
        return new BlockingStrategy(ofThread, false);
    }

    /** Returns what expressions of the method can read from the request. */
    public CallerFacts facts(Method method) {
        CallerFacts thread = ofThread.facts();
        if (thread == CallerFacts.REQUEST || ofContext == null) {
            return thread;
        }
        if (of(method) instanceof ReactiveStrategy) {
            return ofContext.facts();
        }
        return ofContext.facts() == CallerFacts.REQUEST ? CallerFacts.OUT_OF_REACH : thread;
    }

    private ReturnTypeStrategy suspending(Method method) {
        if (ofContext == null
                || !ClassUtils.isPresent(COROUTINES_REACTOR, getClass().getClassLoader())) {
            throw without("a suspending function");
        }
        boolean flow =
                new MethodParameter(method, -1).getParameterType().getName().equals(KOTLIN_FLOW);
        return new ReactiveStrategy(null, flow, ofThread, ofContext, executor);
    }

    private static RateLimitConfigurationException without(String function) {
        return new RateLimitConfigurationException(
                function + " cannot be limited without kotlinx-coroutines-reactor.",
                "Add org.jetbrains.kotlinx:kotlinx-coroutines-reactor.");
    }

    private static void checkReturnable(Class<?> given, Class<?> declared) {
        if (!declared.isAssignableFrom(given)) {
            throw new RateLimitConfigurationException(
                    "the return type of a limited method must be " + given.getName() + " or a supertype of it (was "
                            + declared.getName() + ").",
                    "Return " + given.getName() + ".");
        }
    }
}
