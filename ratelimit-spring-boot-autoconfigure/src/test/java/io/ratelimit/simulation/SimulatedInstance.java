package io.ratelimit.simulation;

import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitAdmin;
import io.ratelimit.RateLimitAdmin.BucketStatus;
import io.ratelimit.Refill;
import io.ratelimit.internal.change.BucketMessages;
import io.ratelimit.internal.change.BucketUpdater;
import io.ratelimit.internal.change.ChangeChannel;
import io.ratelimit.internal.change.LimitAdmin;
import io.ratelimit.internal.change.OverrideSynchronizer;
import io.ratelimit.internal.change.SimulatedOverrides;
import io.ratelimit.internal.concurrent.BoundedWait;
import io.ratelimit.internal.limit.LimitNames;
import io.ratelimit.internal.limiter.AcquireRequest;
import io.ratelimit.internal.limiter.CallListener;
import io.ratelimit.internal.limiter.CallObserver;
import io.ratelimit.internal.limiter.EffectiveLimit;
import io.ratelimit.internal.limiter.LimitCatalog;
import io.ratelimit.internal.limiter.RateLimitGate;
import io.ratelimit.internal.limiter.RateLimitSettings;
import io.ratelimit.internal.limiter.Settlement;
import io.ratelimit.internal.memory.InMemoryRateLimitStore;
import io.ratelimit.internal.store.DelegatingRateLimitStore;
import io.ratelimit.internal.store.failover.FailoverRateLimitStore;
import io.ratelimit.internal.store.failover.SimulatedFailover;
import io.ratelimit.internal.store.lease.LeasingRateLimitStore;
import io.ratelimit.internal.store.rejection.SimulatedRejections;
import io.ratelimit.internal.store.scope.RoutingRateLimitStore;
import io.ratelimit.redis.store.RedisRateLimitStore;
import io.ratelimit.redis.store.SimulatedRedisStore;
import io.ratelimit.spi.Charge;
import io.ratelimit.spi.RateLimitListener;
import io.ratelimit.spi.RateLimitStore;
import io.ratelimit.spi.StoreAnswer;
import io.ratelimit.spi.StoreRequest;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * An instance of an application: the starter's own parts, put together as the auto-configuration does, with the simulation's clock,
 * threads and network. Nothing else of the simulation knows how the starter is made.
 */
final class SimulatedInstance {

    private static final long MOST_KEYS = 10_000;

    private static final int MOST_LEASED_BUCKETS = 100;

    private static final RateLimitListener NO_LISTENER = (charge, decision, outcome) -> {};

    private final String name;

    private final @Nullable SimulatedNetwork network;

    private final ScheduledThreadPoolExecutor thread;

    private final LimitCatalog catalog;

    private final OverrideSynchronizer synchronizer;

    private final LimitAdmin admin;

    private final RateLimitGate gate;

    private final @Nullable SimulatedRedisStore redis;

    private final @Nullable LeasingRateLimitStore leases;

    private final @Nullable ObservedStore shared;

    private Runnable whileDeciding = () -> {};

    private int cachedRejections;

    private boolean running = true;

    /** Creates an instance whose limits are in memory. */
    static SimulatedInstance inMemory(
            String name,
            SimulatedTime time,
            LongSupplier clock,
            RateLimitSettings settings,
            SimulatedOverrides overrides) {
        return new SimulatedInstance(name, time, clock, settings, overrides, null, ChangeChannel.NONE);
    }

    /** Creates an instance whose limits are in Redis. */
    static SimulatedInstance overRedis(
            String name,
            SimulatedTime time,
            RateLimitSettings settings,
            SimulatedNetwork network,
            SimulatedChannel channel) {
        SimulatedInstance[] created = new SimulatedInstance[1];
        ChangeChannel joined = channel.join(() -> created[0] != null && created[0].running && network.isWorking());
        created[0] = new SimulatedInstance(name, time, time::micros, settings, network.overrides(), network, joined);
        return created[0];
    }

    private SimulatedInstance(
            String name,
            SimulatedTime time,
            LongSupplier clock,
            RateLimitSettings settings,
            SimulatedOverrides overrides,
            @Nullable SimulatedNetwork network,
            ChangeChannel channel) {
        this.name = name;
        this.network = network;
        this.thread = time.thread();
        this.catalog = new LimitCatalog(settings, null, () -> false);
        catalog.complete();
        this.synchronizer = overrides.synchronizer(time::nanos, new SteadyThread(time));
        RateLimitStore memory = new InterruptibleStore(new InMemoryRateLimitStore(clock::getAsLong, MOST_KEYS));
        RateLimitStore store = memory;
        if (network == null) {
            redis = null;
            leases = null;
            shared = null;
        } else {
            redis = new SimulatedRedisStore(network, thread, time::nanos);
            BucketMessages releases = new BucketMessages(channel, BucketMessages.RELEASED);
            redis.onAwaitedRelease(charge -> releases.send(charge.limit(), charge.key()));
            leases = new LeasingRateLimitStore(
                    SimulatedRejections.over(redis.store(), () -> cachedRejections++, time::nanos),
                    SimulatedNetwork.TIMEOUT.multipliedBy(2),
                    time::nanos,
                    thread,
                    Runnable::run,
                    MOST_LEASED_BUCKETS);
            shared = new ObservedStore(leases);
            FailoverRateLimitStore failover = SimulatedFailover.over(shared, memory, time::nanos);
            store = RoutingRateLimitStore.byScope(failover, memory);
        }
        BucketUpdater buckets = new BucketUpdater(store, channel, synchronizer);
        this.admin = new LimitAdmin(catalog, synchronizer, buckets, () -> false, property -> null);
        this.gate = new RateLimitGate(
                store, NO_LISTENER, CallObserver.NONE, time, () -> false, Duration.ofMinutes(1), null);
        new BucketMessages(channel, BucketMessages.RELEASED).subscribe(gate::permitsReleased);
        buckets.addListener(gate::permitsReleased);
        catalog.addListener(limit -> gate.follow(limit, catalog));
        LeasingRateLimitStore retiring = leases;
        if (retiring != null) {
            synchronizer.addListener(catalog, event -> {
                switch (event.kind()) {
                    case OVERRIDDEN, OVERRIDE_REMOVED, OVERRIDE_ENDED, RECONFIGURED ->
                        retiring.retire(LimitNames.canonical(event.limitName()));
                    default -> {}
                }
            });
        }
        synchronizer.add(catalog);
    }

    String name() {
        return name;
    }

    @Nullable
    SimulatedNetwork network() {
        return network;
    }

    boolean isConnected() {
        return network == null || network.isWorking();
    }

    LimitCatalog catalog() {
        return catalog;
    }

    RateLimitGate gate() {
        return gate;
    }

    RateLimitAdmin admin() {
        return admin;
    }

    RedisRateLimitStore redisStore() {
        return Objects.requireNonNull(redis).store();
    }

    /** Returns how many settlements the store has counted as lost. */
    long lostSettlements() {
        return redis == null ? 0 : redis.lostSettlements();
    }

    int cachedRejections() {
        return cachedRejections;
    }

    /** Returns the limit that applies to callers with this plan. */
    RateLimit limit(String limit, @Nullable String plan) {
        EffectiveLimit effective = catalog.effective(limit).orElseThrow();
        return plan == null ? effective.get() : effective.plan(plan);
    }

    /** Applies another configuration, as a refresh does. */
    void reconfigure(RateLimitSettings next) {
        synchronizer.reconfigured(catalog.reconfigure(next));
    }

    CompletableFuture<Settlement> enter(List<Charge> charges, CallListener listener) {
        return gate.enterAsync(new AcquireRequest(charges, true, listener)).toCompletableFuture();
    }

    /** Has this happen while the next decision is under way. */
    void whileDeciding(Runnable work) {
        whileDeciding = work;
    }

    /** Returns whether Redis has failed to decide the call that has just been decided. */
    boolean takeFailed() {
        return shared != null && shared.takeFailed();
    }

    /** Looks at a bucket of a limit of this instance, or of one in memory. */
    BucketStatus inspect(String limit, @Nullable String key) {
        RateLimitAdmin.Bucket bucket = key == null ? admin.bucket(limit) : admin.bucket(limit, key);
        return BoundedWait.get(bucket.inspectAsync(), Duration.ofSeconds(1));
    }

    /** Returns the numbers of a limit, for the model. */
    static Numbers numbers(RateLimit limit) {
        boolean concurrency = !limit.hasRate();
        boolean calendar = !concurrency && limit.rate().calendarUnit() != null;
        Numbers.Kind kind = concurrency ? Numbers.Kind.CONCURRENCY : kind(limit);
        double rate = concurrency
                ? 0
                : calendar
                        ? limit.capacity() / (double) Duration.ofHours(23).toSeconds() / 1e6
                        : limit.rate().permits() / (double) limit.rate().periodMicros();
        return new Numbers(
                kind,
                limit.capacity(),
                rate,
                concurrency ? 0 : (long) (limit.capacity() / rate) + 1,
                limit.maxWait().toNanos() / 1_000,
                blocks(limit),
                limit.dryRun(),
                limit.lease(),
                concurrency ? limit.hold().toNanos() / 1_000 : 0);
    }

    private static Numbers.Kind kind(RateLimit limit) {
        if (limit.algorithm() == null) {
            return Numbers.Kind.OWN;
        }
        return switch (limit.algorithm()) {
            case TOKEN_BUCKET, LEAKY_BUCKET ->
                limit.refill() == Refill.INTERVAL ? Numbers.Kind.BATCHES : Numbers.Kind.EVEN;
            case SLIDING_WINDOW_LOG -> Numbers.Kind.LOG;
            default -> Numbers.Kind.WINDOWS;
        };
    }

    private static List<Long> blocks(RateLimit limit) {
        return limit.blockFor().stream().map(time -> time.toNanos() / 1_000).toList();
    }

    /** Returns the attributes that apply to callers with this plan, for the model. */
    Attributes attributes(String limit, @Nullable String plan) {
        RateLimit applied = limit(limit, plan);
        return new Attributes(
                applied.capacity(),
                !applied.hasRate() || applied.rate().calendarUnit() != null
                        ? null
                        : applied.rate().permits() + "/" + applied.rate().periodMicros(),
                applied.maxWait().toNanos() / 1_000,
                blocks(applied),
                applied.enabled(),
                applied.dryRun());
    }

    /** Stops as an application that is shut down. */
    void stop() {
        running = false;
        synchronizer.close();
        if (leases != null) {
            leases.refundAll(Duration.ZERO);
            leases.close();
        }
        if (redis != null) {
            redis.stop();
        }
        thread.shutdownNow();
    }

    /** Stops without a word, as after {@code kill -9}. */
    void kill() {
        running = false;
        thread.shutdownNow();
        synchronizer.close();
    }

    /** Lets something happen on another thread, as it were, while a decision is under way. */
    private final class InterruptibleStore extends DelegatingRateLimitStore {

        InterruptibleStore(RateLimitStore store) {
            super(store);
        }

        @Override
        public StoreAnswer decide(StoreRequest request) {
            Runnable meanwhile = whileDeciding;
            whileDeciding = () -> {};
            meanwhile.run();
            return super.decide(request);
        }

        @Override
        public boolean isNonBlocking(RateLimit limit) {
            return true;
        }
    }
}
