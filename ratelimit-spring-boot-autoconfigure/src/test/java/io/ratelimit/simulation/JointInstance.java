package io.ratelimit.simulation;

import io.ratelimit.internal.change.BucketMessages;
import io.ratelimit.internal.change.ChangeChannel;
import io.ratelimit.internal.concurrent.BoundedWait;
import io.ratelimit.internal.limiter.CallObserver;
import io.ratelimit.internal.limiter.LimitCatalog;
import io.ratelimit.internal.limiter.RateLimitGate;
import io.ratelimit.internal.limiter.RateLimitSettings;
import io.ratelimit.internal.limiter.SimulatedContinuations;
import io.ratelimit.internal.memory.InMemoryRateLimitStore;
import io.ratelimit.internal.store.failover.FailoverRateLimitStore;
import io.ratelimit.internal.store.failover.SimulatedFailover;
import io.ratelimit.internal.store.lease.LeasingRateLimitStore;
import io.ratelimit.internal.store.rejection.RejectionCache;
import io.ratelimit.internal.store.rejection.RejectionCachingRateLimitStore;
import io.ratelimit.internal.store.scope.RoutingRateLimitStore;
import io.ratelimit.redis.store.SimulatedRedisStore;
import io.ratelimit.simulation.SimulatedNetwork.State;
import io.ratelimit.spi.RateLimitStore;
import io.ratelimit.testing.TestClock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.function.Consumer;

/** An instance with limits in two servers and in its memory, put together as the auto-configuration does. */
final class JointInstance {

    private static final int MOST = 10_000;

    final String name;

    final LimitCatalog catalog;

    final RateLimitGate gate;

    /** When a network did not work. */
    private final List<Fault> faults = new ArrayList<>();

    private record Fault(long from, long to) {}

    private final Map<JointLimit.Place, Consumer<State>> networks = new EnumMap<>(JointLimit.Place.class);

    /** Since when the networks are in their states. */
    private final Map<JointLimit.Place, Long> since = new EnumMap<>(JointLimit.Place.class);

    private final Map<JointLimit.Place, State> states = new EnumMap<>(JointLimit.Place.class);

    private final RateLimitStore memory;

    private final SimulatedTime time;

    private final Random random;

    private final ScheduledThreadPoolExecutor thread;

    private final RejectionCache rejections;

    private final ChangeChannel channel;

    private final List<LeasingRateLimitStore> leases = new ArrayList<>();

    private final List<SimulatedRedisStore> redis = new ArrayList<>();

    /** By how much the clock of this instance is ahead: it runs on while a call is decided. */
    private long ahead;

    JointInstance(
            String name,
            SimulatedTime time,
            Random random,
            RateLimitSettings settings,
            JointServer home,
            JointServer eu,
            SimulatedChannel messages) {
        this.name = name;
        this.time = time;
        this.random = random;
        this.thread = time.thread();
        this.rejections = new RejectionCache(time::nanos);
        this.channel = messages.join(() -> true);
        this.catalog = new LimitCatalog(settings, null, () -> false);
        catalog.complete();
        this.memory = new InMemoryRateLimitStore(this::ownMicros, MOST);
        RateLimitStore store = RoutingRateLimitStore.byScope(
                RoutingRateLimitStore.byServer(
                        join(JointLimit.Place.HOME, home), Map.of("eu", join(JointLimit.Place.EU, eu)), this::caching),
                memory);
        this.gate = SimulatedContinuations.by(
                work -> time.after(Duration.ZERO, work),
                new RateLimitGate(
                        store,
                        (charge, decision, outcome) -> {},
                        CallObserver.NONE,
                        time,
                        () -> false,
                        Duration.ofMinutes(1),
                        null));
        new BucketMessages(channel, BucketMessages.RELEASED).subscribe(gate::permitsReleased);
        catalog.addListener(limit -> gate.follow(limit, catalog));
    }

    private long ownMicros() {
        ahead += random.nextInt(2_000);
        return time.micros() + TestClock.TODAY + ahead;
    }

    private FailoverRateLimitStore join(JointLimit.Place place, JointServer server) {
        RateLimitStore joined;
        SimulatedRedisStore redisStore = server.redis(time, thread, random, network -> networks.put(place, network));
        if (redisStore == null) {
            SlowStore slow = new SlowStore(server.memory(), time, random);
            networks.put(place, slow::setState);
            joined = slow;
        } else {
            redis.add(redisStore);
            BucketMessages releases = new BucketMessages(channel, BucketMessages.RELEASED);
            redisStore.onAwaitedRelease(charge -> releases.send(charge.limit(), charge.key()));
            joined = redisStore.store();
        }
        LeasingRateLimitStore leasing = new LeasingRateLimitStore(
                caching(joined), SimulatedNetwork.TIMEOUT.multipliedBy(2), time::nanos, thread, Runnable::run, MOST);
        leases.add(leasing);
        states.put(place, State.WELL);
        since.put(place, time.micros());
        return SimulatedFailover.over(leasing, memory, time::nanos);
    }

    private RateLimitStore caching(RateLimitStore store) {
        return new RejectionCachingRateLimitStore(store, () -> {}, rejections);
    }

    RateLimitStore memory() {
        return memory;
    }

    void change(JointLimit.Place place, State next) {
        State before = states.put(place, next);
        if (isFault(before)) {
            faults.add(new Fault(since.get(place), time.micros()));
        }
        since.put(place, time.micros());
        networks.get(place).accept(next);
    }

    private static boolean isFault(State state) {
        return state != State.WELL && state != State.LATE;
    }

    /** Returns whether calls may have failed in that time. */
    boolean mayHaveFailed(long from, long to) {
        return faults.stream().anyMatch(fault -> fault.from <= to && fault.to + JointModel.RECOVERY >= from)
                || states.entrySet().stream().anyMatch(now -> isFault(now.getValue()) && since.get(now.getKey()) <= to);
    }

    /** Stops as an application that is shut down: what was leased is refunded. */
    void stop() {
        leases.forEach(lease -> lease.refundAll(Duration.ZERO));
        leases.forEach(LeasingRateLimitStore::close);
        time.pass(Duration.ofSeconds(1));
        redis.forEach(SimulatedRedisStore::stop);
        thread.shutdownNow();
    }

    /** Waits for what is done at once. */
    static <T> T now(java.util.concurrent.CompletionStage<T> work) {
        return BoundedWait.get(work, Duration.ofSeconds(20));
    }
}
