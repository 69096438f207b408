package io.ratelimit.aop;

import io.ratelimit.Charge;
import io.ratelimit.RateLimitExceededException;
import io.ratelimit.RateLimitExpressionException;
import io.ratelimit.concurrent.Futures;
import io.ratelimit.expression.CallerRequest;
import io.ratelimit.limiter.AcquireRequest;
import io.ratelimit.limiter.RateLimitGate;
import io.ratelimit.store.Refund;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.ProxyMethodInvocation;

/** One call of a limited method. */
record LimitedCall(LimitedMethod limited, MethodInvocation invocation, RateLimitGate gate) {

    /**
     * What the call asks for.
     *
     * @throws RateLimitExpressionException if an expression gives nothing usable
     */
    AcquireRequest entry(@Nullable CallerRequest request) {
        return limited.entry(new CallEvaluation(this, request), request);
    }

    /**
     * The same outside of a request, where the method {@linkplain LimitedMethod#isPlain() is plain}; {@code null}: the call
     * is not limited.
     */
    @Nullable
    Charge charge() {
        return limited.charge(new CallEvaluation(this, null));
    }

    /** Calls the method, for the only time. */
    @Nullable
    Object proceed() throws Throwable {
        return invocation.proceed();
    }

    /** Calls the method, for one of several subscribers. */
    @Nullable
    Object proceedAnew() throws Throwable {
        return ((ProxyMethodInvocation) invocation).invocableClone().proceed();
    }

    /** What the caller gets instead of the method's result. */
    @Nullable
    Object instead(RateLimitExceededException rejection) throws Throwable {
        FallbackMethod fallback = limited.fallback();
        if (fallback == null) {
            throw rejection;
        }
        return fallback.invoke(invocation.getThis(), invocation.getArguments(), rejection);
    }

    /** Gives back what the method's failure makes good; never fails. What goes wrong is told with that failure. */
    CompletionStage<Void> giveBack(AcquireRequest entry, Refund refund, Throwable failure) {
        List<Charge> charges = limited.refundable(entry.charges(), failure);
        if (charges.isEmpty()) {
            return CompletableFuture.completedFuture(null);
        }
        entry.listener().onRefund(charges);
        return Futures.start(() -> refund.refund(charges)).exceptionally(also -> {
            failure.addSuppressed(Futures.unwrap(also));
            return null;
        });
    }
}
