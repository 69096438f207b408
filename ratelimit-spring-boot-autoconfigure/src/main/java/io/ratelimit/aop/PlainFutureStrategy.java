package io.ratelimit.aop;

import io.ratelimit.RateLimitExceededException;
import io.ratelimit.internal.limiter.AcquireRequest;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * Blocks the calling thread for the decision and returns the rejection in the future. A plain
 * {@link java.util.concurrent.Future} has no completion callback, so its failure cannot be observed.
 */
record PlainFutureStrategy(BlockingStrategy blocking) implements ReturnTypeStrategy {

    @Override
    @SuppressWarnings("FutureReturnValueIgnored") // The caller uses it.
    public @Nullable Object call(LimitedCall call) throws Throwable {
        try {
            AcquireRequest acquire = blocking.acquireRequest(call);
            if (!acquire.charges().isEmpty()) {
                call.gate().enter(acquire);
            }
        } catch (RateLimitExceededException rejection) {
            return call.limited().fallback() == null
                    ? CompletableFuture.failedFuture(call.limited().thrown(rejection))
                    : call.fallback(rejection);
        } catch (RuntimeException ex) {
            return CompletableFuture.failedFuture(ex);
        }
        return call.proceed();
    }

    @Override
    public boolean blocks() {
        return true;
    }

    @Override
    public boolean observesFailures() {
        return false;
    }
}
