package io.ratelimit.aop;

import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitConfigurationException;
import io.ratelimit.expression.MethodSignatures;
import io.ratelimit.internal.limiter.RateLimitGate;
import org.springframework.beans.DirectFieldAccessor;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.stereotype.Controller;

/** Rejects handler methods whose limits could block the event loop on which WebFlux calls them. */
record EventLoopHandlers(BeanFactory beans) {

    private static final String ADAPTER = "requestMappingHandlerAdapter";

    private static final String MAPPING = "org.springframework.web.bind.annotation.RequestMapping";

    /**
     * Checks the limits of a method, and checks them again before they change.
     *
     * @throws RateLimitConfigurationException if an event loop calls the method and its limits may block
     */
    void check(LimitedMethod limited, Class<?> type) {
        if (limited.strategy() instanceof BlockingStrategy && isHandler(limited, type) && areOnEventLoops()) {
            check(limited, limited.charges().mayBlock(gate()));
            limited.addCheck(candidate -> check(limited, mayBlock(candidate)));
        }
    }

    /** A limit can be enabled later, or move to another store. */
    private boolean mayBlock(RateLimit candidate) {
        return candidate.enabled() && (candidate.mayDelay() || !gate().isNonBlocking(candidate));
    }

    private static void check(LimitedMethod limited, boolean mayBlock) {
        if (mayBlock) {
            throw new RateLimitConfigurationException(
                            "the return type of a limited handler method on an event loop must be reactive or a CompletionStage (was "
                                    + limited.method().getReturnType().getName() + ").",
                            "Return a Mono, a Flux or a CompletionStage, or give WebFlux threads for blocking handlers:"
                                    + " spring.threads.virtual.enabled=true, or configureBlockingExecution.")
                    .at(MethodSignatures.describe(limited.method()));
        }
    }

    private static boolean isHandler(LimitedMethod limited, Class<?> type) {
        return TypeHierarchy.isAnnotated(type, Controller.class.getName())
                && TypeHierarchy.isAnnotated(limited.method(), MAPPING, DeclarativeClient.HTTP_EXCHANGE);
    }

    private RateLimitGate gate() {
        return beans.getBean(RateLimitGate.class);
    }

    /** Returns whether WebFlux has no executor for handlers that block. */
    private boolean areOnEventLoops() {
        if (!beans.containsBean(ADAPTER)) {
            return false;
        }
        Object adapter = beans.getBean(ADAPTER);
        return adapter.getClass().getName().startsWith("org.springframework.web.reactive.")
                && !hasExecutor(new DirectFieldAccessor(adapter));
    }

    /** Reads the field, because there is no getter. */
    private static boolean hasExecutor(DirectFieldAccessor adapter) {
        return adapter.isReadableProperty("scheduler") && adapter.getPropertyValue("scheduler") != null;
    }
}
