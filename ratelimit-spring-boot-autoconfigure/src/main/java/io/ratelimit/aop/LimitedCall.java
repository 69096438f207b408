package io.ratelimit.aop;

import io.ratelimit.RateLimitExceededException;
import io.ratelimit.RateLimitExpressionException;
import io.ratelimit.expression.DraftedCharges;
import io.ratelimit.expression.Evaluation;
import io.ratelimit.expression.RequestCall;
import io.ratelimit.internal.limiter.AcquireRequest;
import io.ratelimit.internal.limiter.CallListener;
import io.ratelimit.internal.limiter.RateLimitGate;
import io.ratelimit.reactor.EventLoops;
import io.ratelimit.spi.Charge;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.ProxyMethodInvocation;
import org.springframework.aop.interceptor.ExposeInvocationInterceptor;

/** Makes one call of a limited method. */
record LimitedCall(MethodCharges charges, MethodInvocation invocation, RateLimitGate gate) {

    LimitedMethod limited() {
        return charges.method();
    }

    /** Returns another call of the method, by its limits as they apply now. */
    LimitedCall again() {
        return new LimitedCall(limited().charges(), invocation, gate);
    }

    /**
     * Returns the permits that the call requests; without charges if it is not limited. Waits for the plan of the caller, unless
     * the thread must not block.
     *
     * @throws RateLimitExpressionException if an expression fails or its result has the wrong type
     */
    AcquireRequest acquireRequest(@Nullable RequestCall during) {
        List<Charge> fixed = charges.fixedCharges();
        return acquireRequest(
                fixed != null ? fixed : drafted(during).await(EventLoops::isCurrentThread), during, during);
    }

    /**
     * Returns the permits that the call requests, as soon as the plan of its caller is known, without blocking. It may be known on
     * a thread that runs no code of the application.
     */
    CompletableFuture<AcquireRequest> acquireRequestAsync(@Nullable RequestCall during) {
        List<Charge> fixed = charges.fixedCharges();
        RequestCall listener = during == null || !charges.isRefundable() ? during : during.endingAnyTime();
        return fixed != null
                ? CompletableFuture.completedFuture(acquireRequest(fixed, during, listener))
                : drafted(during).awaitAsync().thenApply(planned -> acquireRequest(planned, during, listener));
    }

    /** What a limit of calls to others decides is no quota of the caller, and each of these calls counts. */
    private AcquireRequest acquireRequest(
            List<Charge> charged, @Nullable RequestCall during, @Nullable RequestCall listener) {
        return during == null || listener == null || limited().isOutbound()
                ? new AcquireRequest(charged, charges.isRefundable(), CallListener.NONE)
                : new AcquireRequest(during.unpaid(charged), charges.isRefundable(), listener);
    }

    private DraftedCharges drafted(@Nullable RequestCall during) {
        Evaluation evaluation = evaluation(during);
        DraftedCharges drafted = new DraftedCharges();
        charges.operations().forEach(operation -> drafted.add(operation, evaluation));
        return drafted;
    }

    /** @param during {@code null} outside of a request */
    Evaluation evaluation(@Nullable RequestCall during) {
        return new Evaluation(
                limited().factory().expressions(),
                limited().method(),
                invocation.getThis(),
                invocation.getArguments(),
                during,
                Map.of());
    }

    /**
     * Returns the charge of a call outside of a request, if the method {@linkplain MethodCharges#hasSingleCharge() has a single
     * charge}; {@code null} if the call is not limited.
     */
    @Nullable
    Charge charge() {
        List<Charge> fixed = charges.fixedCharges();
        return fixed != null ? fixed.get(0) : charges.operations().get(0).charge(evaluation(null));
    }

    /** Calls the method, once. */
    @Nullable
    Object proceed() throws Throwable {
        return invocation.proceed();
    }

    /** Warns if the call holds permits, which are released now, and its work goes on. */
    void returned(@Nullable Object result) {
        if (charges.holdsPermits() && LateResults.goesOnAfter(result)) {
            limited().warnOfEarlyRelease(Objects.requireNonNull(result).getClass());
        }
    }

    /** Calls the method, once, after the interceptor has returned. Aspects behind the limit find the call in its thread. */
    @Nullable
    Object proceedLater() throws Throwable {
        return ExposeInvocationInterceptor.INSTANCE.invoke(invocation);
    }

    /** Calls the method for one of several subscribers, also after the interceptor has returned. */
    @Nullable
    Object proceedAgain() throws Throwable {
        return ExposeInvocationInterceptor.INSTANCE.invoke(((ProxyMethodInvocation) invocation).invocableClone());
    }

    /** Calls the fallback method after a rejection. Throws other failures, and rejections if there is no such method. */
    @Nullable
    Object fallback(Throwable failure) throws Throwable {
        if (!(failure instanceof RateLimitExceededException rejection)) {
            throw failure;
        }
        FallbackMethod method = limited().fallback();
        if (method == null) {
            throw limited().thrown(rejection);
        }
        return method.invoke(invocation.getThis(), invocation.getArguments(), rejection);
    }
}
