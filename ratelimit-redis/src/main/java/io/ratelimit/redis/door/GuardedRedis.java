package io.ratelimit.redis.door;

import io.ratelimit.RateLimitStoreException;
import io.ratelimit.RateLimitStoreException.Reason;
import io.ratelimit.internal.concurrent.BoundedWait;
import io.ratelimit.internal.concurrent.DaemonThreads;
import io.ratelimit.internal.concurrent.Futures;
import io.ratelimit.redis.RateLimitScriptExecutor;
import io.ratelimit.redis.RedisTopology;
import io.ratelimit.redis.script.ProbeScript;
import io.ratelimit.redis.script.ScriptCodec;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.function.ToIntFunction;
import java.util.stream.Collectors;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.data.redis.connection.ClusterSlotHashUtil;

/**
 * Runs the script on Redis within a timeout, behind a circuit breaker for each server. Every failure is a
 * {@link RateLimitStoreException}.
 */
public final class GuardedRedis implements DisposableBean {

    private static final System.Logger logger = System.getLogger("io.ratelimit.redis");

    /** The number of scripts or calls whose ends may be slow before the ends of others are delayed. */
    private static final int SERVICE_THREADS = 4;

    /** The number of beats of the clock within a timeout. */
    private static final int BEATS = 8;

    private final RateLimitScriptExecutor executor;

    private final Duration timeout;

    private final AwakeClock clock;

    private final DeadlineTimer timer;

    private final ProbeScript probe;

    private final Map<String, ServerCircuitBreaker> breakers = new ConcurrentHashMap<>();

    private final RecoveryProbes probes;

    private final boolean reconnects;

    private final LongAdder sent = new LongAdder();

    private volatile boolean closing;

    private volatile Runnable startTask = () -> {};

    private volatile Runnable stopTask = () -> {};

    private volatile Runnable endTask = () -> {};

    /** Whether a single address accepts only keys of one slot in a script. */
    private volatile boolean enforcesSlots;

    /**
     * @param timeout of a decision
     * @param keyPrefix the prefix of the probes' keys
     */
    public GuardedRedis(RateLimitScriptExecutor executor, Duration timeout, String keyPrefix) {
        this(executor, timeout, keyPrefix, true, DaemonThreads.createScheduler("ratelimit-probe"), System::nanoTime);
    }

    /** Creates one for the warm-up. It never replaces a connection, because callers, whose circuit breakers are others, use it. */
    public static GuardedRedis forWarmUp(RateLimitScriptExecutor executor, Duration timeout, String keyPrefix) {
        ScheduledExecutorService probing = DaemonThreads.createScheduler("ratelimit-warm-up-probe");
        return new GuardedRedis(executor, timeout, keyPrefix, false, probing, System::nanoTime);
    }

    /**
     * @param reconnects whether a server that stays silent gets a new connection
     * @param probing the thread of the probes
     * @param nanos the clock
     */
    public GuardedRedis(
            RateLimitScriptExecutor executor,
            Duration timeout,
            String keyPrefix,
            boolean reconnects,
            ScheduledExecutorService probing,
            LongSupplier nanos) {
        this.executor = executor;
        this.reconnects = reconnects;
        this.timeout = timeout;
        this.clock = new AwakeClock(nanos, timeout.toNanos() / BEATS);
        this.timer = new DeadlineTimer(
                timeout, clock, Scheduler.TIMER, serviceThreads("ratelimit-timeout"), serviceThreads("ratelimit-send"));
        this.probe = new ProbeScript(keyPrefix, new ScriptCodec());
        this.probes = new RecoveryProbes(this::probe, this::reconnect, probing, nanos);
    }

    private static Executor serviceThreads(String name) {
        return DaemonThreads.createService(name, SERVICE_THREADS, Integer.MAX_VALUE);
    }

    public Deadline deadline() {
        return timer.deadline();
    }

    public Duration timeout() {
        return timeout;
    }

    /** Returns the time during which this JVM has run. */
    public long nanos() {
        return clock.getAsLong();
    }

    public DeadlineTimer timer() {
        return timer;
    }

    /** Returns whether a script reaches keys of one slot only. */
    public boolean isClustered() {
        return executor.topology().isClustered() || enforcesSlots;
    }

    /** Returns the hash slot of the key; 0 without a cluster. */
    public int slotOf(byte[] key) {
        return isClustered() ? ClusterSlotHashUtil.calculateSlot(key) : 0;
    }

    /**
     * Divides what scripts are sent for by the slots of their keys, and further into parts.
     *
     * @param size of one of them, 1 or more
     * @param most the largest sum of sizes in a part; what is larger is alone
     */
    public <T> List<List<T>> bySlot(Collection<T> all, Function<T, byte[]> key, ToIntFunction<T> size, int most) {
        Map<Integer, List<T>> bySlot = all.stream()
                .collect(Collectors.groupingBy(one -> slotOf(key.apply(one)), TreeMap::new, Collectors.toList()));
        List<List<T>> parts = new ArrayList<>();
        for (List<T> ofSlot : bySlot.values()) {
            int left = 0;
            for (T one : ofSlot) {
                left -= size.applyAsInt(one);
                if (left < 0) {
                    left = most - size.applyAsInt(one);
                    parts.add(new ArrayList<>());
                }
                parts.get(parts.size() - 1).add(one);
            }
        }
        return parts;
    }

    /**
     * Finds the server of the slot.
     *
     * @throws RuntimeException if the servers are not known
     */
    public ServerCircuitBreaker server(int slot) {
        return server(executor.topology().serverOf(slot));
    }

    /**
     * Runs a script for callers.
     *
     * @param keys all in one slot
     */
    public CompletableFuture<List<Long>> execute(List<byte[]> keys, byte[][] arguments, Deadline deadline) {
        if (deadline.isOver()) {
            return CompletableFuture.failedFuture(
                    new RateLimitStoreException(Reason.TIMEOUT, "Redis: not sent in time", null));
        }
        return send(keys, arguments, true).by(deadline);
    }

    private ServerCall<List<Long>> send(List<byte[]> keys, byte[][] arguments, boolean forCallers) {
        try {
            return send(server(slotOf(keys.get(0))), keys, arguments, forCallers);
        } catch (RuntimeException ex) {
            return ServerCall.unsent(ex);
        }
    }

    /**
     * Sends a script to the server that was found for its keys.
     *
     * @param forCallers whether callers wait for it, so that it counts towards the circuit breaker
     */
    public ServerCall<List<Long>> send(
            ServerCircuitBreaker server, List<byte[]> keys, byte[][] arguments, boolean forCallers) {
        if (!forCallers) {
            return server.callInBackground(() -> executor.execute(keys, arguments));
        }
        sent.increment();
        return server.call(() -> executor.execute(keys, arguments));
    }

    private RateLimitStoreException failure(String server, Throwable thrown) {
        RateLimitStoreException failure = RedisFailureMapper.of(server, thrown);
        if (RedisFailureMapper.isCrossSlot(failure) && !isClustered()) {
            enforcesSlots = true;
            logger.log(
                    Level.INFO,
                    "Redis accepts only keys of one slot in a script (CROSSSLOT); sending calls slot by slot");
        }
        return closing
                ? new RateLimitStoreException(Reason.CLOSED, String.valueOf(failure.getMessage()), failure)
                : failure;
    }

    /** Returns whether no background work is to be started any more. */
    public boolean isClosed() {
        return probes.isStopped();
    }

    /** Returns whether the circuit breaker of the key's server is closed, so that scripts are sent. */
    public boolean isAvailable(byte[] key) {
        return !server(slotOf(key)).isOpen();
    }

    /** Returns how many scripts callers have sent. */
    public long sent() {
        return sent.sum();
    }

    /**
     * Runs the script for work that no caller waits for. Its result never counts towards the circuit breaker, and it is not sent
     * while the breaker is open.
     */
    public CompletableFuture<List<Long>> executeInBackground(List<byte[]> keys, byte[][] arguments, Deadline deadline) {
        return send(keys, arguments, false).by(deadline);
    }

    /** Runs a probe on every server, so that the first call is fast. Ignores failures, which calls report. */
    public void warmUp(Duration time) {
        Deadline deadline = Deadline.in(time, clock);
        BoundedWait.await(
                probeAll((server, probe) -> server.callInBackground(probe).by(deadline)), deadline::nanosLeftAtLast);
    }

    /**
     * Runs a probe on every server. The result fails if one of them fails twice. Neither failure counts towards the circuit
     * breaker. If no call was answered meanwhile, the connection is closed: without calls, nothing else would find another one.
     */
    public CompletableFuture<Void> check() {
        return probeAll((server, probe) -> {
            long since = nanos();
            return server.callInBackground(probe)
                    .by(deadline())
                    .exceptionallyCompose(late -> server.callInBackground(probe).by(deadline()))
                    .whenComplete((answer, failure) -> {
                        if (failure != null && server.isSilent(since, failure)) {
                            probes.reconnect(server);
                        }
                    });
        });
    }

    private CompletableFuture<Void> probeAll(
            BiFunction<ServerCircuitBreaker, Supplier<CompletionStage<List<Long>>>, CompletableFuture<?>> call) {
        Map<String, String> tags;
        try {
            tags = executor.topology().hashTags();
        } catch (RuntimeException ex) {
            return CompletableFuture.failedFuture(RedisFailureMapper.of(RedisTopology.REDIS, ex));
        }
        breakers.values().removeIf(server -> !server.isOpen() && !tags.containsKey(server.name()));
        return Futures.forAll(tags.entrySet(), tag -> call.apply(server(tag.getKey()), () -> probeOn(tag.getValue())));
    }

    private ServerCircuitBreaker server(String name) {
        ServerCircuitBreaker known = breakers.get(name);
        return known != null
                ? known
                : breakers.computeIfAbsent(
                        name,
                        absent -> new ServerCircuitBreaker(
                                absent,
                                timeout,
                                clock::nanos,
                                clock,
                                thrown -> failure(absent, thrown),
                                probes::start));
    }

    private void probe(ServerCircuitBreaker server) {
        String tag;
        try {
            tag = executor.topology().hashTags().get(server.name());
        } catch (Throwable ex) {
            // A probe of a server that cannot be found has failed, so that the breaker knows that it is probed.
            var unused = server.probe(() -> CompletableFuture.failedFuture(ex)).by(deadline());
            return;
        }
        if (tag == null) {
            server.retire();
            breakers.remove(server.name());
        } else {
            var unused = server.probe(() -> probeOn(tag)).by(deadline());
        }
    }

    private void reconnect(ServerCircuitBreaker server) {
        if (reconnects && server.isOpen()) {
            executor.topology().reconnect(server.name());
        } else if (reconnects) {
            executor.topology().disconnect(server.name());
        }
    }

    private CompletionStage<List<Long>> probeOn(String tag) {
        return executor.execute(probe.names(tag), probe.arguments());
    }

    /** Expects replies again after a {@link #stop}. */
    public void start() {
        startTask.run();
        closing = false;
    }

    /** Returns whether no call is to hold permits any more: nothing would renew or release them. */
    public boolean isStopping() {
        return closing;
    }

    /** Runs a task when the application starts, before calls hold permits. */
    public void onStart(Runnable task) {
        startTask = task;
    }

    /** Runs a task when the application stops, while there are connections. */
    public void onStop(Runnable task) {
        stopTask = task;
    }

    /** Runs a task when no background work is to be started any more. */
    public void onDestroy(Runnable task) {
        endTask = task;
    }

    /** Expects failures from now on, but goes on as long as the connections do. */
    public void stop() {
        closing = true;
        stopTask.run();
    }

    @Override
    public void destroy() {
        closing = true;
        probes.stop();
        endTask.run();
    }
}
