package io.ratelimit.internal.change;

import io.ratelimit.BucketStatus;
import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitAdmin;
import io.ratelimit.RateLimitStoreException;
import io.ratelimit.RateLimitStoreException.Reason;
import io.ratelimit.internal.concurrent.BoundedWait;
import io.ratelimit.internal.concurrent.Continuations;
import io.ratelimit.internal.concurrent.Futures;
import io.ratelimit.spi.BucketChange;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Administers one bucket.
 *
 * @param limit supplies the limit that applies now
 * @param key {@code null}: the one bucket of all callers
 * @param principal the author of changes, if known
 * @param checkMayBlock throws on a thread that must not block
 */
record BucketAdmin(
        BucketUpdater changes,
        Supplier<RateLimit> limit,
        @Nullable String key,
        @Nullable String principal,
        Runnable checkMayBlock,
        Continuations continuations)
        implements RateLimitAdmin.Bucket {

    @Override
    public BucketStatus inspect() {
        return wait(() -> change(BucketChange.NONE));
    }

    @Override
    public CompletionStage<BucketStatus> inspectAsync() {
        return apart(() -> change(BucketChange.NONE));
    }

    @Override
    public BucketStatus grant(long permits) {
        return waitForChange(() -> change(BucketChange.grant(permits)));
    }

    @Override
    public CompletionStage<BucketStatus> grantAsync(long permits) {
        return apart(() -> change(BucketChange.grant(permits)));
    }

    @Override
    public BucketStatus block(Duration time) {
        return waitForChange(() -> change(BucketChange.block(time)));
    }

    @Override
    public CompletionStage<BucketStatus> blockAsync(Duration time) {
        return apart(() -> change(BucketChange.block(time)));
    }

    @Override
    public BucketStatus unblock() {
        return waitForChange(() -> change(BucketChange.UNBLOCK));
    }

    @Override
    public CompletionStage<BucketStatus> unblockAsync() {
        return apart(() -> change(BucketChange.UNBLOCK));
    }

    @Override
    public void reset() {
        var unused = waitForChange(() -> change(BucketChange.RESET));
    }

    @Override
    public CompletionStage<Void> resetAsync() {
        return apart(() -> change(BucketChange.RESET).thenAccept(status -> {}));
    }

    private CompletionStage<BucketStatus> change(BucketChange change) {
        return changes.change(limit.get(), key, change, principal);
    }

    private <T> T wait(Supplier<CompletionStage<T>> work) {
        checkMayBlock.run();
        return BoundedWait.get(work.get(), LimitAdmin.PATIENCE);
    }

    /** The store normally ends the wait, and then the changes say what is known of this one. */
    private <T> T waitForChange(Supplier<CompletionStage<T>> work) {
        checkMayBlock.run();
        CompletableFuture<T> change = work.get().toCompletableFuture();
        BoundedWait.await(change, LimitAdmin.PATIENCE);
        if (!change.isDone()) {
            throw BucketUpdater.unconfirmed(new RateLimitStoreException(Reason.TIMEOUT, "No answer in time", null));
        }
        return BoundedWait.result(change);
    }

    private <T> CompletionStage<T> apart(Supplier<CompletionStage<T>> work) {
        return continuations.apart(Futures.start(work));
    }
}
