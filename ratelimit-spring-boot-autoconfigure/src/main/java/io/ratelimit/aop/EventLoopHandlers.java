package io.ratelimit.aop;

import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitConfigurationException;
import io.ratelimit.expression.MethodSignatures;
import io.ratelimit.internal.limiter.RateLimitGate;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.core.annotation.MergedAnnotations.SearchStrategy;
import org.springframework.stereotype.Controller;

/**
 * Rejects handler methods whose limits could block the event loop that calls them.
 *
 * @param onEventLoops whether the application's handler methods are called on event loops
 * @param gate resolved only if there are such methods
 */
public record EventLoopHandlers(BooleanSupplier onEventLoops, Supplier<RateLimitGate> gate) {

    private static final String MAPPING = "org.springframework.web.bind.annotation.RequestMapping";

    /**
     * Checks the limits of a method, and checks them again before they change.
     *
     * @throws RateLimitConfigurationException if an event loop calls the method and its limits may block
     */
    void check(LimitedMethod limited, Class<?> type) {
        if (limited.strategy() instanceof BlockingStrategy && isHandler(limited, type) && onEventLoops.getAsBoolean()) {
            check(limited, limited.charges().mayBlock(gate.get()));
            limited.addCheck(candidate -> check(limited, mayBlock(candidate)));
        }
    }

    /** A limit can be enabled later, or move to another store. */
    private boolean mayBlock(RateLimit candidate) {
        return candidate.enabled() && (candidate.mayDelay() || !gate.get().isNonBlocking(candidate));
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
        return MergedAnnotations.from(type, SearchStrategy.TYPE_HIERARCHY).isPresent(Controller.class)
                && MergedAnnotations.from(limited.method(), SearchStrategy.TYPE_HIERARCHY)
                        .isPresent(MAPPING);
    }
}
