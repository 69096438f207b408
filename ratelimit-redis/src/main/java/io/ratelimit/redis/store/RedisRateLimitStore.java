package io.ratelimit.redis.store;

import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitAdmin.BucketStatus;
import io.ratelimit.RateLimitDecision;
import io.ratelimit.RateLimitStoreException;
import io.ratelimit.internal.concurrent.BoundedWait;
import io.ratelimit.redis.batch.BatchingDispatcher;
import io.ratelimit.redis.batch.CallDispatcher;
import io.ratelimit.redis.batch.DirectDispatcher;
import io.ratelimit.redis.batch.PendingCall;
import io.ratelimit.redis.door.Deadline;
import io.ratelimit.redis.door.GuardedRedis;
import io.ratelimit.redis.door.RedisFailureMapper;
import io.ratelimit.redis.permit.PermitHold;
import io.ratelimit.redis.permit.PermitRegistry;
import io.ratelimit.redis.script.BucketNaming;
import io.ratelimit.redis.script.CalendarCalls;
import io.ratelimit.redis.script.KeyHash;
import io.ratelimit.redis.script.Receipt;
import io.ratelimit.redis.script.ScriptCall;
import io.ratelimit.redis.script.ScriptCodec;
import io.ratelimit.redis.script.ScriptReply;
import io.ratelimit.redis.script.UnknownWindowException;
import io.ratelimit.redis.settlement.LeaseRefunds;
import io.ratelimit.redis.settlement.SettlementQueue;
import io.ratelimit.spi.BucketChange;
import io.ratelimit.spi.Charge;
import io.ratelimit.spi.Lease;
import io.ratelimit.spi.RateLimitStore;
import io.ratelimit.spi.ReceiptRefund;
import io.ratelimit.spi.Refund;
import io.ratelimit.spi.StoreAnswer;
import io.ratelimit.spi.StoreOutcome;
import io.ratelimit.spi.StoreRequest;
import java.time.Duration;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.LongConsumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.data.redis.connection.ClusterSlotHashUtil;

/**
 * Decides in Redis, with all charges of a call in one script and by the server's clock. Calls that arrive while a script is
 * under way share the next one. On a cluster, charges with different keys take one script for each slot.
 */
public final class RedisRateLimitStore implements RateLimitStore {

    /** The longest time for which a shutdown waits for settlements. If Redis fails, they fail earlier. */
    private static final Duration SHUTDOWN = Duration.ofSeconds(2);

    private final GuardedRedis redis;

    private final BucketNaming keys;

    private final ScriptCodec codec = new ScriptCodec();

    private final CalendarCalls calendars = new CalendarCalls(codec);

    private final CallDispatcher dispatcher;

    private final LeaseRefunds leaseRefunds;

    private final SettlementQueue settlements;

    private final PermitRegistry permits;

    /** Sends the scripts of calls that several decide. */
    private final CallDispatcher alone;

    /** @param keyPrefix the prefix of every key, without braces */
    public RedisRateLimitStore(GuardedRedis redis, String keyPrefix) {
        this(redis, keyPrefix, KeyHash.OF_LONG_KEYS);
    }

    /**
     * @param keyPrefix the prefix of every key, without braces
     * @param hash hides callers' keys
     */
    public RedisRateLimitStore(GuardedRedis redis, String keyPrefix, KeyHash hash) {
        this(redis, new BucketNaming(keyPrefix, hash), BatchingDispatcher::new, PermitRegistry::new);
    }

    /**
     * @param dispatcher creates what sends calls
     * @param permits creates what renews and releases permits that calls hold
     */
    RedisRateLimitStore(
            GuardedRedis redis,
            BucketNaming keys,
            BiFunction<GuardedRedis, ScriptCodec, CallDispatcher> dispatcher,
            PermitRegistry.Factory permits) {
        this.redis = redis;
        this.keys = keys;
        this.leaseRefunds = new LeaseRefunds(redis, codec, keys);
        this.settlements = new SettlementQueue(redis, codec);
        this.dispatcher = dispatcher.apply(redis, codec);
        this.permits = permits.create(redis, codec, this.dispatcher);
        redis.onStart(this.permits::start);
        redis.onStop(() -> {
            this.permits.stop(SHUTDOWN);
            settlements.drain(SHUTDOWN);
        });
        this.alone = new DirectDispatcher(redis, codec);
    }

    /** Calls the listener when this instance has released permits that a call waits for, perhaps one of another instance. */
    public void onAwaitedRelease(Consumer<Charge> listener) {
        permits.setListener(listener);
    }

    /** Calls the listener with the number of permits of running calls that had expired or were lost by Redis, when they were. */
    public void onLostPermits(LongConsumer listener) {
        permits.setLossListener(listener);
    }

    /** Calls the listener with the limit of each refund, and of each charge after a call, that Redis has not or may not have made. */
    public void onLostSettlement(Consumer<RateLimit> listener) {
        settlements.setLossListener(listener);
    }

    @Override
    public StoreAnswer decide(StoreRequest request) {
        Supplier<CompletableFuture<StoreOutcome>> nonBlocking =
                () -> decided(request, keys.names(request.charges()), redis.deadline());
        return request.isPeek()
                ? StoreAnswer.of(nonBlocking)
                : StoreAnswer.of(() -> decideBlocking(request), nonBlocking);
    }

    private static boolean isHolding(StoreRequest request) {
        return request.refundable() && request.holdsPermits();
    }

    /** Most calls are decided by one script, which the calling thread waits for by itself. */
    private StoreOutcome decideBlocking(StoreRequest request) {
        List<byte[]> names = keys.names(request.charges());
        Deadline deadline = redis.deadline();
        if (!isHolding(request) && !areApart(names)) {
            try {
                return dispatched(request, names, List.of(), deadline, true, dispatcher)
                        .await();
            } catch (UnknownWindowException ex) {
                codec.renewWindows(request.charges(), ex.micros());
            } catch (RateLimitStoreException ex) {
                if (names.size() == 1 || !RedisFailureMapper.areKeysApart(ex)) {
                    throw ex;
                }
            }
        }
        CompletableFuture<StoreOutcome> work = decided(request, names, deadline);
        // A little longer than the deadline, at which the work normally ends.
        BoundedWait.await(work, deadline::nanosLeftAtLast);
        try {
            return BoundedWait.result(work);
        } catch (Throwable ex) {
            // The call does not take place, even if it is admitted later. What holds no permits gets them back by time.
            if (isHolding(request)) {
                var unused = work.thenAccept(late -> late.refund().refund(late.charges()));
            }
            throw ex;
        }
    }

    /** One script decides if it reaches all keys, else one for each slot, or one for each key while a slot is moving. */
    private CompletableFuture<StoreOutcome> decided(StoreRequest request, List<byte[]> names, Deadline deadline) {
        boolean apart = areApart(names);
        CompletableFuture<StoreOutcome> work = apart
                ? decidedBySlots(request, names, deadline, Integer.MAX_VALUE)
                : decidedByOne(request, names, deadline, dispatcher);
        return names.size() == 1
                ? work
                : work.exceptionallyCompose(thrown -> RedisFailureMapper.areKeysApart(thrown)
                        ? decidedBySlots(request, names, deadline, !apart && areApart(names) ? Integer.MAX_VALUE : 1)
                        : CompletableFuture.failedFuture(thrown));
    }

    /** Returns whether no single script reaches all keys. */
    private boolean areApart(List<byte[]> names) {
        return names.size() > 1
                && redis.isClustered()
                && !ClusterSlotHashUtil.isSameSlotForAllKeys(names.toArray(byte[][]::new));
    }

    /** @param most the number of keys that one script reaches */
    private CompletableFuture<StoreOutcome> decidedBySlots(
            StoreRequest request, List<byte[]> names, Deadline deadline, int most) {
        Function<Charge, byte[]> name = charge -> names.get(request.charges().indexOf(charge));
        List<Charge> sorted = request.charges().stream()
                .sorted(Comparator.comparing(name, Arrays::compareUnsigned))
                .toList();
        return new CrossSlotDecision(
                        request,
                        deadline,
                        redis.bySlot(sorted, name, charge -> 1, most),
                        call -> decidedByOne(
                                call, call.charges().stream().map(name).toList(), deadline, alone))
                .decide();
    }

    /** Decides a call by one script. A call that is to hold permits asks for them. */
    private CompletableFuture<StoreOutcome> decidedByOne(
            StoreRequest request, List<byte[]> names, Deadline deadline, CallDispatcher sender) {
        Function<List<PermitHold>, CompletableFuture<StoreOutcome>> decision = holds -> calendars.complete(
                request.charges(),
                () -> dispatched(request, names, holds, deadline, false, sender).outcome());
        return isHolding(request) ? permits.decide(request.charges(), names, decision) : decision.apply(List.of());
    }

    /** @param holds what the call asks for of concurrency limits */
    private PendingCall<StoreOutcome> dispatched(
            StoreRequest request,
            List<byte[]> names,
            List<PermitHold> holds,
            Deadline deadline,
            boolean waitedFor,
            CallDispatcher sender) {
        ScriptCall call = holds.isEmpty() ? ScriptCall.of(request) : ScriptCall.HOLD;
        PendingCall<StoreOutcome> pending = new PendingCall<>(
                call,
                request.charges(),
                holds.isEmpty() ? request.more() : holds.get(0).holder(),
                names,
                deadline,
                waitedFor,
                (reply, from) -> outcome(request, ScriptReply.of(call, request.charges(), reply, from), holds));
        sender.dispatch(pending);
        return pending;
    }

    /** The call holds the permits that it has taken until their refund. Its other charges are refunded by their receipts. */
    private StoreOutcome outcome(StoreRequest request, ScriptReply reply, List<PermitHold> holds) {
        List<RateLimitDecision> decisions = reply.decisions();
        StoreOutcome outcome = StoreOutcome.of(request, decisions);
        if (request.more() > 0) {
            Lease.Unused unused = leaseRefunds.of(
                    request.first(), reply.receipts().get(0), decisions.get(0).resetAfter());
            return outcome.with(new Lease(reply.more(), unused));
        }
        if (!request.refundable()) {
            return outcome;
        }
        Map<Charge, Receipt> taken = reply.taken(outcome);
        List<PermitHold> held = holds.isEmpty()
                ? holds
                : holds.stream()
                        .filter(hold -> taken.remove(hold.charge()) != null)
                        .toList();
        held.forEach(PermitHold::begin);
        Refund rates = new ReceiptRefund<>(taken, this::refund);
        return StoreOutcome.of(request, decisions, held.isEmpty() ? rates : refundOf(held, rates));
    }

    private static Refund refundOf(List<PermitHold> held, Refund rates) {
        return refunded -> CompletableFuture.allOf(
                PermitHold.end(held.stream()
                        .filter(hold -> refunded.containsKey(hold.charge()))
                        .toList()),
                rates.refund(refunded).toCompletableFuture());
    }

    @Override
    public long heldPermits(RateLimit limit) {
        return permits.permits(limit);
    }

    @Override
    public CompletionStage<Void> charge(Charge charge) {
        return charge.permits() == 0
                ? CompletableFuture.completedFuture(null)
                : settlements.charge(charge, keys.name(charge.limit(), charge.key()));
    }

    private CompletionStage<Void> refund(Map<Charge, Receipt> taken, Map<Charge, Long> permits) {
        List<Charge> charges = List.copyOf(taken.keySet());
        List<Long> parts = charges.stream().map(permits::get).toList();
        List<Receipt> receipts = charges.stream().map(taken::get).toList();
        return settlements.refund(charges, parts, keys.names(charges), receipts);
    }

    @Override
    public void forget(String limit, String keyDigest) {
        permits.forget(limit, keyDigest);
    }

    @Override
    public CompletionStage<BucketStatus> change(RateLimit limit, @Nullable String key, BucketChange change) {
        byte[] name = keys.name(limit, key);
        Charge bucket = new Charge(limit, key, 0);
        Deadline deadline = redis.deadline();
        Supplier<CompletableFuture<List<Long>>> script =
                () -> redis.execute(List.of(name), codec.changeArguments(bucket, change), deadline);
        boolean endsHolds = change.equals(BucketChange.RESET) && !limit.hasRate();
        CompletableFuture<BucketStatus> changed = calendars.complete(
                List.of(bucket),
                () -> (endsHolds ? permits.reset(bucket, name, script) : script.get())
                        .thenApply(reply -> ScriptReply.status(limit, reply)));
        return change.equals(BucketChange.NONE) ? changed : RedisFailureMapper.sayingIfUnchanged(changed);
    }

    @Override
    public CompletionStage<Void> check() {
        return redis.check();
    }
}
