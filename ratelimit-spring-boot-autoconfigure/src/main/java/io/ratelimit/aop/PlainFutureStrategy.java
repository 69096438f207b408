package io.ratelimit.aop;

import io.ratelimit.RateLimitExceededException;
import io.ratelimit.limiter.AcquireRequest;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * A {@link java.util.concurrent.Future} tells nobody when it is done, so nothing can follow it: the calling thread waits for
 * the decision. The rejection is in the future.
 */
final class PlainFutureStrategy implements ReturnTypeStrategy {

    private final BlockingStrategy blocking;

    PlainFutureStrategy(BlockingStrategy blocking) {
        this.blocking = blocking;
    }

    @Override
    @SuppressWarnings("FutureReturnValueIgnored") // It is the caller's.
    public @Nullable Object call(LimitedCall call) throws Throwable {
        try {
            AcquireRequest entry = blocking.entry(call);
            if (!entry.charges().isEmpty()) {
                blocking.enter(call, entry);
            }
        } catch (RateLimitExceededException rejection) {
            return call.limited().fallback() == null
                    ? CompletableFuture.failedFuture(rejection)
                    : call.instead(rejection);
        } catch (RuntimeException ex) {
            return CompletableFuture.failedFuture(ex);
        }
        return call.proceed();
    }

    @Override
    public boolean waits() {
        return true;
    }

    @Override
    public boolean seesFailures() {
        return false;
    }
}
