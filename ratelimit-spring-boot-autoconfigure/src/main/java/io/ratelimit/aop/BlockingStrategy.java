package io.ratelimit.aop;

import io.ratelimit.RateLimitExceededException;
import io.ratelimit.expression.RequestCall;
import io.ratelimit.internal.limiter.AcquireRequest;
import io.ratelimit.internal.limiter.CallListener;
import io.ratelimit.internal.limiter.Settlement;
import io.ratelimit.spi.Charge;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * Blocks the calling thread for the decision.
 *
 * @param inFuture whether the rejection is returned in a future, and not thrown. Of a plain {@link java.util.concurrent.Future}, which
 *     has no completion callback, the failure cannot be observed
 */
record BlockingStrategy(RequestCall.Source requests, boolean inFuture) implements ReturnTypeStrategy {

    @Override
    @SuppressWarnings("FutureReturnValueIgnored") // The caller uses it.
    public @Nullable Object call(LimitedCall call) throws Throwable {
        CallSettlement settlement;
        try {
            settlement = enter(call);
        } catch (RateLimitExceededException rejection) {
            return inFuture && call.limited().fallback() == null
                    ? CompletableFuture.failedFuture(call.limited().thrown(rejection))
                    : call.fallback(rejection);
        } catch (RuntimeException ex) {
            if (inFuture) {
                return CompletableFuture.failedFuture(ex);
            }
            throw ex;
        }
        return settlement == null ? call.proceed() : proceed(call, settlement);
    }

    /** Charges the call. Returns what settles it; {@code null}: its end does not matter. */
    private @Nullable CallSettlement enter(LimitedCall call) {
        RequestCall request = requests.current();
        if (request != null || !call.charges().hasSingleCharge()) {
            return enter(call, call.acquireRequest(request));
        }
        // Avoids the allocations of the general case for most calls outside of a request.
        Charge charge = call.charge();
        if (charge == null) {
            return null;
        }
        if (!charge.limit().hasRate()) {
            // It has changed meanwhile.
            return enter(call, new AcquireRequest(List.of(charge), false, CallListener.NONE));
        }
        call.gate().enter(charge);
        return null;
    }

    private static @Nullable CallSettlement enter(LimitedCall call, AcquireRequest acquire) {
        if (acquire.charges().isEmpty()) {
            return null;
        }
        Settlement settlement = call.gate().enter(acquire);
        return acquire.refundable() ? new CallSettlement(call, acquire, settlement) : null;
    }

    private static @Nullable Object proceed(LimitedCall call, CallSettlement settlement) throws Throwable {
        Object result;
        try {
            result = call.proceed();
        } catch (Throwable failure) {
            call.gate().await(settlement.refund(failure));
            throw failure;
        } finally {
            settlement.release();
        }
        call.returned(result);
        return settlement.returned(result);
    }
}
