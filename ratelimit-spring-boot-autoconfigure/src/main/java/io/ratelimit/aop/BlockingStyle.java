package io.ratelimit.aop;

import io.ratelimit.Entry;
import io.ratelimit.RateLimitExceededException;
import io.ratelimit.Refund;
import org.jspecify.annotations.Nullable;

/** The calling thread waits for the decision, and the rejection is thrown. */
final class BlockingStyle implements CallStyle {

    private final CallerRequest.Source requests;

    BlockingStyle(CallerRequest.Source requests) {
        this.requests = requests;
    }

    @Override
    public @Nullable Object call(LimitedCall call) throws Throwable {
        Entry entry = call.entry(requests.current());
        if (entry.charges().isEmpty()) {
            return call.proceed();
        }
        Refund refund;
        try {
            refund = call.gate().enter(entry);
        } catch (RateLimitExceededException rejection) {
            return call.instead(rejection);
        }
        return entry.refundable() ? proceed(call, entry, refund) : call.proceed();
    }

    private static @Nullable Object proceed(LimitedCall call, Entry entry, Refund refund) throws Throwable {
        try {
            return call.proceed();
        } catch (Throwable failure) {
            call.giveBack(entry, refund, failure).toCompletableFuture().join();
            throw failure;
        }
    }
}
