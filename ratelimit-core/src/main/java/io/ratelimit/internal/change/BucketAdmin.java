package io.ratelimit.internal.change;

import io.ratelimit.RateLimitAdmin;
import io.ratelimit.RateLimitAdmin.BucketStatus;
import io.ratelimit.RateLimitStoreException;
import io.ratelimit.RateLimitStoreException.Reason;
import io.ratelimit.internal.concurrent.BoundedWait;
import io.ratelimit.internal.concurrent.Futures;
import io.ratelimit.internal.limiter.EffectiveLimit;
import io.ratelimit.spi.BucketChange;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Administers one bucket.
 *
 * @param key {@code null}: the one bucket of all callers
 */
record BucketAdmin(
        LimitAdmin admin, EffectiveLimit limit, @Nullable String key) implements RateLimitAdmin.Bucket {

    @Override
    public BucketStatus inspect() {
        return await(() -> BucketChange.NONE);
    }

    @Override
    public CompletionStage<BucketStatus> inspectAsync() {
        return apart(() -> BucketChange.NONE);
    }

    @Override
    public BucketStatus grant(long permits) {
        return await(() -> BucketChange.grant(permits));
    }

    @Override
    public CompletionStage<BucketStatus> grantAsync(long permits) {
        return apart(() -> BucketChange.grant(permits));
    }

    @Override
    public BucketStatus block(Duration time) {
        return await(() -> BucketChange.block(time));
    }

    @Override
    public CompletionStage<BucketStatus> blockAsync(Duration time) {
        return apart(() -> BucketChange.block(time));
    }

    @Override
    public BucketStatus unblock() {
        return await(() -> BucketChange.UNBLOCK);
    }

    @Override
    public CompletionStage<BucketStatus> unblockAsync() {
        return apart(() -> BucketChange.UNBLOCK);
    }

    @Override
    public void reset() {
        var unused = await(() -> BucketChange.RESET);
    }

    @Override
    public CompletionStage<Void> resetAsync() {
        return apart(() -> BucketChange.RESET).thenAccept(status -> {});
    }

    private CompletionStage<BucketStatus> change(BucketChange change) {
        return admin.buckets().change(admin.numbers(limit), key, change, admin.principal());
    }

    /** The store normally ends the wait, and then the changes say what is known of this one. */
    private BucketStatus await(Supplier<BucketChange> change) {
        admin.checkMayBlock();
        BucketChange wanted = change.get();
        CompletableFuture<BucketStatus> made = change(wanted).toCompletableFuture();
        BoundedWait.await(made, LimitAdmin.PATIENCE);
        if (!made.isDone() && !wanted.equals(BucketChange.NONE)) {
            throw BucketUpdater.unconfirmed(new RateLimitStoreException(Reason.TIMEOUT, "No answer in time", null));
        }
        return BoundedWait.result(made);
    }

    private CompletionStage<BucketStatus> apart(Supplier<BucketChange> change) {
        return admin.continuations().apart(Futures.start(() -> change(change.get())));
    }
}
