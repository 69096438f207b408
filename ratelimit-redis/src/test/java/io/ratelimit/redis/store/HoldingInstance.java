package io.ratelimit.redis.store;

import io.ratelimit.redis.HandTurnedThread;
import io.ratelimit.redis.RateLimitScriptExecutor;
import io.ratelimit.redis.RedisTopology;
import io.ratelimit.redis.RedisUnderTest;
import io.ratelimit.redis.batch.CallDispatcher;
import io.ratelimit.redis.batch.DirectDispatcher;
import io.ratelimit.redis.door.GuardedRedis;
import io.ratelimit.redis.permit.PermitRegistry;
import io.ratelimit.redis.script.BucketNaming;
import io.ratelimit.redis.script.ScriptCodec;
import io.ratelimit.spi.Charge;
import io.ratelimit.spi.StoreOutcome;
import io.ratelimit.spi.StoreRequest;
import io.ratelimit.testing.TestClock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.BiFunction;
import org.springframework.dao.QueryTimeoutException;
import org.springframework.data.redis.RedisSystemException;

/** An instance of an application whose calls hold permits in Redis, and whose background thread the test turns. */
public final class HoldingInstance implements RateLimitScriptExecutor {

    public final HandTurnedThread thread = new HandTurnedThread();

    /** Finds out that Redis can be reached again. */
    private final HandTurnedThread probes = new HandTurnedThread();

    /** The number of keys of each script that was sent. */
    public final List<Integer> scripts = new ArrayList<>();

    /** Releases that other instances were told of. */
    public final List<String> told = new ArrayList<>();

    /** Permits that were lost. */
    public final List<Long> lost = new ArrayList<>();

    public RedisTopology topology = RedisTopology.ONE_SERVER;

    /** Scripts do not reach Redis. */
    public boolean unreachable;

    /** So many of the next scripts do not reach Redis. */
    public int failing;

    /** The next script fails by this; {@code null}: it does not. */
    public String error;

    /** Replies do not come back. */
    public boolean silent;

    /** The driver sends each script twice, and has the second reply alone. */
    public boolean repeating;

    /** Scripts reach Redis when the test lets them. */
    public boolean slow;

    /** Replies come back when the test lets them. */
    public boolean late;

    /** Not even the servers are known. */
    public boolean broken;

    public final GuardedRedis redis;

    public PermitRegistry permits;

    public final RedisRateLimitStore store;

    private final List<Runnable> under = new ArrayList<>();

    private final RateLimitScriptExecutor executor;

    private final TestClock clock;

    public HoldingInstance(RedisUnderTest server, TestClock clock, String prefix) {
        this(server, clock, prefix, DirectDispatcher::new);
    }

    public HoldingInstance(
            RedisUnderTest server,
            TestClock clock,
            String prefix,
            BiFunction<GuardedRedis, ScriptCodec, CallDispatcher> dispatchers) {
        this(server.executorAt(clock), clock, prefix, dispatchers);
    }

    public HoldingInstance(
            RateLimitScriptExecutor executor,
            TestClock clock,
            String prefix,
            BiFunction<GuardedRedis, ScriptCodec, CallDispatcher> dispatchers) {
        this.clock = clock;
        this.executor = executor;
        this.redis = TestStores.closedLater(
                new GuardedRedis(this, Duration.ofSeconds(20), prefix, true, probes, probes::nanos));
        this.store = new RedisRateLimitStore(
                this.redis, new BucketNaming(prefix), dispatchers, (guarded, codec, dispatcher) -> {
                    permits = new PermitRegistry(guarded, codec, dispatcher, thread, thread::nanos);
                    return permits;
                });
        store.onAwaitedRelease(charge -> told.add(charge.limit().id() + " " + charge.key()));
        store.onLostPermits(lost::add);
    }

    public long lostPermits() {
        return lost.stream().mapToLong(Long::longValue).sum();
    }

    @Override
    public RedisTopology topology() {
        if (broken) {
            throw new NoClassDefFoundError("expected by the test");
        }
        return topology;
    }

    @Override
    public CompletionStage<List<Long>> execute(List<byte[]> keys, byte[][] arguments) {
        scripts.add(keys.size());
        if (unreachable || failing-- > 0) {
            return CompletableFuture.failedFuture(new QueryTimeoutException("unreachable"));
        }
        if (slow) {
            CompletableFuture<List<Long>> later = new CompletableFuture<>();
            under.add(() -> answer(later, keys, arguments));
            return later;
        }
        if (repeating) {
            run(keys, arguments);
        }
        List<Long> reply = run(keys, arguments);
        if (late) {
            CompletableFuture<List<Long>> later = new CompletableFuture<>();
            under.add(() -> later.complete(reply));
            return later;
        }
        return silent
                ? CompletableFuture.failedFuture(new QueryTimeoutException("silent"))
                : CompletableFuture.completedFuture(reply);
    }

    private void answer(CompletableFuture<List<Long>> later, List<byte[]> keys, byte[][] arguments) {
        String failure = error;
        error = null;
        if (failure == null) {
            later.complete(run(keys, arguments));
        } else {
            later.completeExceptionally(new RedisSystemException(failure, null));
        }
    }

    private List<Long> run(List<byte[]> keys, byte[][] arguments) {
        return executor.execute(keys, arguments).toCompletableFuture().join();
    }

    /** Returns how many scripts are on their way to Redis. */
    public int waiting() {
        return under.size();
    }

    /** Lets scripts reach Redis, and replies the instance, that are on their way. */
    public void answer() {
        List<Runnable> all = List.copyOf(under);
        under.clear();
        all.forEach(Runnable::run);
    }

    public CompletableFuture<StoreOutcome> enterAsync(Charge charge) {
        return store.decide(StoreRequest.refundable(List.of(charge))).toStage().toCompletableFuture();
    }

    public StoreOutcome enter(Charge charge) {
        return store.decide(StoreRequest.refundable(List.of(charge))).await();
    }

    public static void release(StoreOutcome call) {
        call.refund().refund(call.charges()).toCompletableFuture().join();
    }

    /** Lets the instance find out that Redis answers again. */
    public void recover() {
        probes.pass(Duration.ofSeconds(10));
    }

    /** Lets time pass for the server and this instance. */
    public void pass(Duration time) {
        clock.advance(time.toNanos() / 1_000);
        probes.pass(time);
        thread.pass(time);
    }
}
