package io.ratelimit.aop;

import io.ratelimit.Charge;
import io.ratelimit.RateLimitExceededException;
import io.ratelimit.expression.CallerRequest;
import io.ratelimit.expression.MethodSignatures;
import io.ratelimit.limiter.AcquireRequest;
import io.ratelimit.store.Refund;
import org.jspecify.annotations.Nullable;

/** The calling thread waits for the decision, and the rejection is thrown. */
final class BlockingStrategy implements ReturnTypeStrategy {

    private final CallerRequest.Source requests;

    BlockingStrategy(CallerRequest.Source requests) {
        this.requests = requests;
    }

    @Override
    public @Nullable Object call(LimitedCall call) throws Throwable {
        CallerRequest request = requests.current();
        if (request == null && call.limited().isPlain()) {
            return callPlain(call);
        }
        AcquireRequest entry = call.entry(request);
        if (entry.charges().isEmpty()) {
            return call.proceed();
        }
        Refund refund;
        try {
            refund = enter(call, entry);
        } catch (RateLimitExceededException rejection) {
            return call.instead(rejection);
        }
        return entry.refundable() ? proceed(call, entry, refund) : call.proceed();
    }

    /** As most calls are that come with no request: of a single charge, and nobody hears what became of it. */
    private static @Nullable Object callPlain(LimitedCall call) throws Throwable {
        Charge charge = call.charge();
        if (charge == null) {
            return call.proceed();
        }
        checkMayWait(call);
        try {
            call.gate().enter(charge);
        } catch (RateLimitExceededException rejection) {
            return call.instead(rejection);
        }
        return call.proceed();
    }

    AcquireRequest entry(LimitedCall call) {
        return call.entry(requests.current());
    }

    /** @throws IllegalStateException if the thread might have to wait and must not; nothing is charged then */
    Refund enter(LimitedCall call, AcquireRequest entry) {
        checkMayWait(call);
        return call.gate().enter(entry);
    }

    private static void checkMayWait(LimitedCall call) {
        if (call.limited().mayBlock(call.gate()) && EventLoops.isCurrentThread()) {
            throw new IllegalStateException(
                    MethodSignatures.describe(call.limited().method())
                            + " would have to wait for its rate limit, and the thread "
                            + Thread.currentThread().getName()
                            + " must not wait. Let the method return a Mono, a Flux or a CompletionStage, or call it on a thread"
                            + " that may wait, such as one of Schedulers.boundedElastic().");
        }
    }

    @Override
    public boolean waits() {
        return true;
    }

    private static @Nullable Object proceed(LimitedCall call, AcquireRequest entry, Refund refund) throws Throwable {
        try {
            return call.proceed();
        } catch (Throwable failure) {
            call.gate().await(call.giveBack(entry, refund, failure));
            throw failure;
        }
    }
}
