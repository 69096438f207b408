package io.ratelimit.aop;

import io.ratelimit.OutboundRateLimitExceededException;
import io.ratelimit.RateLimitExceededException;
import io.ratelimit.expression.ChargeDescription;
import io.ratelimit.expression.Evaluation;
import io.ratelimit.expression.MethodSignatures;
import io.ratelimit.expression.RateLimitExpressionParser;
import io.ratelimit.expression.RateLimitOperation;
import io.ratelimit.expression.RequestCall;
import io.ratelimit.internal.limiter.EffectiveLimit;
import java.lang.System.Logger.Level;
import java.lang.reflect.Method;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;

/** Holds a method and its limits. Created once; what a call needs is derived again when one of the limits changes. */
final class LimitedMethod {

    private static final System.Logger logger = System.getLogger("io.ratelimit");

    private final Method method;

    private final boolean outbound;

    /** What is charged to each limit, by the name of the limit. */
    private final Map<String, ChargeDescription> descriptions = new LinkedHashMap<>();

    private final List<RateLimitOperation> operations;

    private final @Nullable FallbackMethod fallback;

    private final ReturnTypeStrategy strategy;

    private final RateLimitExpressionParser expressions;

    private final AtomicBoolean warned = new AtomicBoolean();

    private volatile MethodCharges charges;

    /** @param outbound whether the method calls another application */
    LimitedMethod(
            Method method,
            boolean outbound,
            List<RateLimitOperation> operations,
            @Nullable FallbackMethod fallback,
            ReturnTypeStrategy strategy,
            RateLimitExpressionParser expressions) {
        this.method = method;
        this.outbound = outbound;
        this.operations = List.copyOf(operations);
        operations.forEach(operation -> descriptions.put(operation.limit().name(), operation.describe()));
        this.fallback = fallback;
        this.strategy = strategy;
        this.expressions = expressions;
        this.charges = new MethodCharges(this, this.operations);
        limits().forEach(limit -> limit.addListener(this::derive));
        // One may have changed before it had the listener.
        derive();
    }

    private synchronized void derive() {
        charges = new MethodCharges(this, operations);
    }

    /** Returns whether the method calls another application. */
    boolean isOutbound() {
        return outbound;
    }

    Method method() {
        return method;
    }

    /** Describes what is charged to each limit, including disabled ones, by the name of the limit. */
    Map<String, ChargeDescription> descriptions() {
        return Collections.unmodifiableMap(descriptions);
    }

    /** Returns all limits, including disabled ones. */
    List<EffectiveLimit> limits() {
        return operations.stream().map(RateLimitOperation::effective).toList();
    }

    /** Returns what a call is charged now. A call reads it once. */
    MethodCharges charges() {
        return charges;
    }

    @Nullable
    FallbackMethod fallback() {
        return fallback;
    }

    /** Returns the rejection as callers of the method get it. */
    RateLimitExceededException thrown(RateLimitExceededException rejection) {
        return outbound ? OutboundRateLimitExceededException.of(rejection) : rejection;
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

    ReturnTypeStrategy strategy() {
        return strategy;
    }

    /** @param during {@code null} outside of a request */
    Evaluation evaluation(MethodInvocation invocation, @Nullable RequestCall during) {
        return Evaluation.ofCall(expressions, method, invocation.getThis(), invocation.getArguments(), during);
    }
}
