package io.ratelimit.aop;

import io.ratelimit.RateLimitExceededException;
import io.ratelimit.expression.RequestCall;
import io.ratelimit.internal.limiter.AcquireRequest;
import io.ratelimit.internal.limiter.CallListener;
import io.ratelimit.internal.limiter.Settlement;
import io.ratelimit.spi.Charge;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Blocks the calling thread for the decision and throws the rejection. */
record BlockingStrategy(RequestCall.Source requests) implements ReturnTypeStrategy {

    @Override
    public @Nullable Object call(LimitedCall call) throws Throwable {
        RequestCall request = requests.current();
        if (request != null || !call.charges().hasSingleCharge()) {
            return call(call, call.acquireRequest(request));
        }
        Charge charge = call.charge();
        if (charge == null) {
            return call.proceed();
        }
        return charge.limit().hasRate()
                ? callWithSingleCharge(call, charge)
                // It has changed meanwhile.
                : call(call, AcquireRequest.of(List.of(charge), CallListener.NONE));
    }

    private @Nullable Object call(LimitedCall call, AcquireRequest acquire) throws Throwable {
        if (acquire.charges().isEmpty()) {
            return call.proceed();
        }
        Settlement settlement;
        try {
            settlement = call.gate().enter(acquire);
        } catch (RateLimitExceededException rejection) {
            return call.fallback(rejection);
        }
        return acquire.refundable() ? proceed(call, new CallSettlement(call, acquire, settlement)) : call.proceed();
    }

    /** Avoids the allocations of the general case for most calls outside of a request. */
    private static @Nullable Object callWithSingleCharge(LimitedCall call, Charge charge) throws Throwable {
        try {
            call.gate().enter(charge);
        } catch (RateLimitExceededException rejection) {
            return call.fallback(rejection);
        }
        return call.proceed();
    }

    AcquireRequest acquireRequest(LimitedCall call) {
        return call.acquireRequest(requests.current());
    }

    @Override
    public boolean blocks() {
        return true;
    }

    private static @Nullable Object proceed(LimitedCall call, CallSettlement costs) throws Throwable {
        Object result;
        try {
            result = call.proceed();
        } catch (Throwable failure) {
            call.gate().await(costs.failed(failure));
            throw failure;
        } finally {
            costs.release();
        }
        call.returned(result);
        return costs.returned(result);
    }
}
