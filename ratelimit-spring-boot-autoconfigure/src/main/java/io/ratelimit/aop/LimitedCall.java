package io.ratelimit.aop;

import io.ratelimit.RateLimitExceededException;
import io.ratelimit.RateLimitExpressionException;
import io.ratelimit.expression.CallerRequest;
import io.ratelimit.expression.Evaluation;
import io.ratelimit.internal.limiter.AcquireRequest;
import io.ratelimit.internal.limiter.RateLimitGate;
import io.ratelimit.spi.Charge;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.ProxyMethodInvocation;
import org.springframework.expression.EvaluationContext;

/** Makes one call of a limited method. */
record LimitedCall(MethodCharges charges, MethodInvocation invocation, RateLimitGate gate) {

    LimitedMethod limited() {
        return charges.method();
    }

    /**
     * Returns the permits that the call requests.
     *
     * @throws RateLimitExpressionException if an expression fails or its result has the wrong type
     */
    AcquireRequest acquireRequest(@Nullable CallerRequest request) {
        return charges.acquireRequest(new CallEvaluation(request), request);
    }

    /**
     * Returns the permits that the call requests, as soon as the plan of its caller is known, without blocking. It may be known on
     * a thread that runs no code of the application.
     */
    CompletableFuture<AcquireRequest> acquireRequestAsync(@Nullable CallerRequest request) {
        return charges.resolvesPlans()
                ? charges.acquireRequestAsync(new CallEvaluation(request), request)
                : CompletableFuture.completedFuture(acquireRequest(request));
    }

    /**
     * Returns the charge of a call outside of a request, if the method {@linkplain MethodCharges#hasSingleCharge() has a single
     * charge}; {@code null} if the call is not limited.
     */
    @Nullable
    Charge charge() {
        return charges.charge(new CallEvaluation(null));
    }

    /** Calls the method, once. */
    @Nullable
    Object proceed() throws Throwable {
        return invocation.proceed();
    }

    /** Warns if the call holds permits, which are released now, and its work goes on. */
    void returned(@Nullable Object result) {
        if (charges.holdsPermits() && CallEnds.goesOnAfter(result)) {
            limited().warnOfEarlyRelease(Objects.requireNonNull(result).getClass());
        }
    }

    /** Calls the method for one of several subscribers. */
    @Nullable
    Object proceedAgain() throws Throwable {
        return ((ProxyMethodInvocation) invocation).invocableClone().proceed();
    }

    /** Calls the fallback method after a rejection. Throws other failures, and rejections if there is no such method. */
    @Nullable
    Object fallback(Throwable failure) throws Throwable {
        FallbackMethod method = limited().fallback();
        if (method == null || !(failure instanceof RateLimitExceededException rejection)) {
            throw failure;
        }
        return method.invoke(invocation.getThis(), invocation.getArguments(), rejection);
    }

    /** Creates the context for SpEL on demand, because creating it takes longer than reading most keys. */
    private final class CallEvaluation implements Evaluation {

        private final @Nullable CallerRequest request;

        private @Nullable EvaluationContext context;

        CallEvaluation(@Nullable CallerRequest request) {
            this.request = request;
        }

        @Override
        public @Nullable Object[] arguments() {
            return invocation.getArguments();
        }

        @Override
        public EvaluationContext context() {
            EvaluationContext known = context;
            if (known == null) {
                known = limited().context(invocation.getThis(), arguments(), request);
                context = known;
            }
            return known;
        }
    }
}
