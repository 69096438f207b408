package io.ratelimit.internal.store.failover;

import io.ratelimit.OnStoreFailure;
import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitAdmin.BucketStatus;
import io.ratelimit.RateLimitRefusedException;
import io.ratelimit.RateLimitStoreException;
import io.ratelimit.event.RateLimitStoreFailureEvent;
import io.ratelimit.event.RateLimitStoreRecoveredEvent;
import io.ratelimit.internal.concurrent.BoundedWait;
import io.ratelimit.internal.concurrent.Futures;
import io.ratelimit.internal.store.CombinedOutcome;
import io.ratelimit.internal.store.DelegatingRateLimitStore;
import io.ratelimit.spi.BucketChange;
import io.ratelimit.spi.Charge;
import io.ratelimit.spi.RateLimitStore;
import io.ratelimit.spi.Refund;
import io.ratelimit.spi.StoreAnswer;
import io.ratelimit.spi.StoreFailure;
import io.ratelimit.spi.StoreHealth;
import io.ratelimit.spi.StoreOutcome;
import io.ratelimit.spi.StoreRequest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/** Applies {@link OnStoreFailure} to calls that the store cannot decide. */
public final class FailoverRateLimitStore extends DelegatingRateLimitStore implements StoreHealth {

    /** The store itself gives up a check earlier. */
    private static final Duration CHECK = Duration.ofSeconds(10);

    private final RateLimitStore local;

    private final OutageTracker outages;

    private final UnaryOperator<Refund> forgiving = this::forgiving;

    /** Creates one for the only server, without events. */
    public FailoverRateLimitStore(RateLimitStore store, RateLimitStore local) {
        this(store, local, event -> {}, null);
    }

    /**
     * @param store the one that may fail
     * @param local decides meanwhile if the policy is {@link OnStoreFailure#LOCAL}; must not block
     * @param events gets a {@link RateLimitStoreFailureEvent} when the store fails and a {@link RateLimitStoreRecoveredEvent}
     *     when it has recovered; must not block
     * @param redis the name of the server, if limits are in several; {@code null}: there is only one
     */
    public FailoverRateLimitStore(
            RateLimitStore store, RateLimitStore local, Consumer<Object> events, @Nullable String redis) {
        this(store, local, events, System::nanoTime, redis);
    }

    /** @param nanos the clock of outages */
    FailoverRateLimitStore(
            RateLimitStore store,
            RateLimitStore local,
            Consumer<Object> events,
            LongSupplier nanos,
            @Nullable String redis) {
        super(store);
        this.local = local;
        this.outages = new OutageTracker(store::check, nanos, events, redis);
    }

    @Override
    public StoreAnswer decide(StoreRequest request) {
        StoreAnswer answer;
        try {
            answer = store().decide(request);
        } catch (RateLimitStoreException ex) {
            return fallBack(request, ex);
        }
        return answer instanceof StoreOutcome outcome
                ? decided(outcome)
                : answer.handle((outcome, thrown) ->
                        outcome != null ? decided(outcome) : fallBack(request, storeFailure(thrown)));
    }

    /** If the store fails, charges the local bucket of this instance, or what else the policy says. */
    @Override
    public CompletionStage<Void> charge(Charge charge) {
        return Futures.start(() -> store().charge(charge)).exceptionallyCompose(thrown -> {
            RateLimitStoreException failure = storeFailure(thrown);
            outages.otherFailure(List.of(charge.limit()), failure);
            List<Charge> limited = limitedLocally(List.of(charge), failure);
            return limited.isEmpty() ? CompletableFuture.completedFuture(null) : local.charge(charge);
        });
    }

    private StoreOutcome decided(StoreOutcome outcome) {
        outages.success();
        return outcome.mapRefund(forgiving);
    }

    /** A refund that the store fails to make does not fail the caller. */
    private Refund forgiving(Refund refund) {
        return permits -> Futures.start(() -> refund.refund(permits)).exceptionally(thrown -> {
            outages.otherFailure(limits(List.copyOf(permits.keySet())), storeFailure(thrown));
            return null;
        });
    }

    /** Returns the failure of the store; throws anything else, such as a mistake in the call. */
    private static RateLimitStoreException storeFailure(@Nullable Throwable thrown) {
        Throwable cause = thrown == null ? null : Futures.unwrap(thrown);
        if (cause instanceof RateLimitStoreException failure) {
            return failure;
        }
        throw Futures.unchecked(cause);
    }

    /**
     * Resets and unblocks the local bucket, too, which outlives an outage. A change that fails does so whatever the policy, and
     * leaves the local bucket as it is.
     */
    @Override
    public CompletionStage<BucketStatus> change(RateLimit limit, @Nullable String key, BucketChange change) {
        CompletionStage<BucketStatus> changed = super.change(limit, key, change);
        return switch (change.kind()) {
            case NONE, GRANT, BLOCK -> changed;
            case UNBLOCK, RESET ->
                changed.whenComplete((status, thrown) -> {
                    if (thrown == null && local != store()) {
                        var unused = Futures.start(() -> local.change(limit, key, change));
                    }
                });
        };
    }

    @Override
    public List<StoreFailure> failures() {
        BoundedWait.await(check().handle(outages::checked).toCompletableFuture(), CHECK);
        return outages.failures();
    }

    @Override
    public List<StoreFailure> lastFailures() {
        return outages.failures();
    }

    /**
     * Returns without waiting whether the store decides, as far as is known, and begins a check. So it is right at the next call
     * even if there are no calls to limit meanwhile.
     */
    public boolean isAvailable() {
        outages.checkInBackground();
        return outages.isAvailable();
    }

    private StoreOutcome fallBack(StoreRequest request, RateLimitStoreException failure) {
        if (request.isPeek()) {
            outages.otherFailure(limits(request.charges()), failure);
        } else {
            outages.failureOfCall(limits(request.charges()), failure);
        }
        List<Charge> charges = request.charges();
        List<Charge> limited = limitedLocally(charges, failure);
        List<StoreOutcome> parts = new ArrayList<>(1);
        if (!limited.isEmpty()) {
            parts.add(locally(request.with(limited)));
        }
        if (limited.size() == charges.size()) {
            return StoreOutcome.of(
                    request, parts.get(0).decisions(), parts.get(0).refund());
        }
        for (Charge charge : charges) {
            if (!limited.contains(charge)) {
                parts.add(CombinedOutcome.allowed(charge));
            }
        }
        return CombinedOutcome.of(request, parts);
    }

    /** Refuses the call if an algorithm of the application fails in this JVM, too. */
    private StoreOutcome locally(StoreRequest request) {
        try {
            return local.decide(request).await();
        } catch (RateLimitStoreException ex) {
            throw new RateLimitRefusedException(ex);
        }
    }

    /**
     * Returns the charges that the local store decides; the others are allowed.
     *
     * @throws RateLimitStoreException if any charge's policy is not to allow it
     */
    private List<Charge> limitedLocally(List<Charge> charges, RateLimitStoreException failure) {
        if (anyFailsBy(OnStoreFailure.THROW, charges)) {
            throw failure;
        }
        if (anyFailsBy(OnStoreFailure.REJECT, charges)) {
            throw new RateLimitRefusedException(failure);
        }
        return anyFailsBy(OnStoreFailure.ALLOW, charges)
                ? charges.stream()
                        .filter(charge -> policy(charge) == OnStoreFailure.LOCAL)
                        .toList()
                : charges;
    }

    private static List<RateLimit> limits(List<Charge> charges) {
        return charges.size() == 1
                ? List.of(charges.get(0).limit())
                : charges.stream().map(Charge::limit).toList();
    }

    /** A limit in dry run refuses nothing, also if its algorithm is of the application and fails in this JVM, too. */
    private static OnStoreFailure policy(Charge charge) {
        OnStoreFailure policy = charge.limit().onStoreFailure();
        boolean mayRefuse = policy != OnStoreFailure.LOCAL || charge.limit().algorithm() == null;
        return mayRefuse && charge.limit().dryRun() ? OnStoreFailure.ALLOW : policy;
    }

    private static boolean anyFailsBy(OnStoreFailure policy, List<Charge> charges) {
        for (Charge charge : charges) {
            if (policy(charge) == policy) {
                return true;
            }
        }
        return false;
    }
}
