package io.ratelimit.aop;

import io.ratelimit.OutboundRateLimitExceededException;
import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitExceededException;
import io.ratelimit.expression.ChargeDescription;
import io.ratelimit.expression.LimitOperations;
import io.ratelimit.expression.MethodSignatures;
import io.ratelimit.expression.RateLimitOperation;
import io.ratelimit.internal.limiter.EffectiveLimit;
import java.lang.System.Logger.Level;
import java.lang.reflect.Method;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Holds a method and its limits. Created once; what a call needs is derived again when one of the limits changes.
 *
 * @param isOutbound whether the method calls another application
 * @param warned whether the early release of permits was logged
 * @param derived what a call is charged now
 */
record LimitedMethod(
        Method method,
        boolean isOutbound,
        List<RateLimitOperation> operations,
        @Nullable FallbackMethod fallback,
        ReturnTypeStrategy strategy,
        LimitOperations factory,
        AtomicBoolean warned,
        AtomicReference<MethodCharges> derived) {

    private static final System.Logger logger = System.getLogger("io.ratelimit");

    LimitedMethod(
            Method method,
            boolean isOutbound,
            List<RateLimitOperation> operations,
            @Nullable FallbackMethod fallback,
            ReturnTypeStrategy strategy,
            LimitOperations factory) {
        this(
                method,
                isOutbound,
                List.copyOf(operations),
                fallback,
                strategy,
                factory,
                new AtomicBoolean(),
                new AtomicReference<>());
        limits().forEach(limit -> limit.addListener(factory.catalog(), this::derive));
        // One may have changed before it had the listener.
        derive();
    }

    private synchronized void derive() {
        derived.set(MethodCharges.of(this));
    }

    /** Describes what is charged to each limit, including disabled ones, by the name of the limit. */
    Map<String, ChargeDescription> descriptions() {
        Map<String, ChargeDescription> descriptions = new LinkedHashMap<>();
        operations.forEach(operation -> descriptions.put(operation.limit().name(), operation.describe()));
        return descriptions;
    }

    /** Returns all limits, including disabled ones. */
    List<EffectiveLimit> limits() {
        return operations.stream().map(RateLimitOperation::effective).toList();
    }

    /** Checks the limits of the method again before they change. */
    void addCheck(Consumer<RateLimit> check) {
        limits().forEach(limit -> limit.addCheck(factory.catalog(), check));
    }

    /** Returns what a call is charged now. A call reads it once. */
    MethodCharges charges() {
        return derived.get();
    }

    /** Returns the rejection as callers of the method get it. */
    RateLimitExceededException thrown(RateLimitExceededException rejection) {
        return isOutbound ? OutboundRateLimitExceededException.of(rejection) : rejection;
    }

    /** Logs once that calls release their permits before their work is done. */
    void warnOfEarlyRelease(Class<?> returned) {
        if (warned.compareAndSet(false, true)) {
            logger.log(
                    Level.WARNING,
                    MethodSignatures.describe(method) + " returned a " + returned.getName()
                            + " whose work goes on, and its permits were released already, because the declared type does not tell."
                            + " Limit the requests by a URL rule (ratelimit.http), or declare the return type; logged once for this"
                            + " method");
        }
    }

    /** Without what is derived, which refers to the method. */
    @Override
    public String toString() {
        return MethodSignatures.describe(method);
    }
}
