package io.ratelimit.simulation;

import io.ratelimit.RateLimitStoreException;
import io.ratelimit.RateLimitStoreException.Reason;
import io.ratelimit.internal.change.SimulatedOverrides;
import io.ratelimit.redis.RateLimitScriptExecutor;
import io.ratelimit.redis.RedisTopology;
import io.ratelimit.redis.SimulatedServer;
import io.ratelimit.redis.change.RedisOverrideRepository;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.springframework.dao.QueryTimeoutException;
import org.springframework.data.redis.RedisConnectionFailureException;

/** What is between one instance and the server: it delays replies, loses them or the requests, or is cut. */
final class SimulatedNetwork implements RateLimitScriptExecutor {

    /** The state of a network. */
    enum State {
        WELL,
        /** Replies take some time. */
        LATE,
        /** The server runs what it gets, and no reply arrives. */
        LOSES_REPLIES,
        /** Nothing arrives, and nothing says so before the timeout. */
        HANGS,
        /** The connection is refused. */
        CUT
    }

    static final Duration TIMEOUT = Duration.ofMillis(100);

    private final SimulatedTime time;

    private final SimulatedServer server;

    private final LongSupplier micros;

    private final Random random;

    private State state = State.WELL;

    private final RedisTopology topology;

    private boolean isWaitedFor;

    /** @param micros the clock of the server */
    SimulatedNetwork(SimulatedTime time, SimulatedServer server, LongSupplier micros, Random random) {
        this(time, server, micros, random, RedisTopology.ONE_SERVER);
    }

    /** @param topology of the server, which may be a cluster */
    SimulatedNetwork(
            SimulatedTime time, SimulatedServer server, LongSupplier micros, Random random, RedisTopology topology) {
        this.time = time;
        this.server = server;
        this.micros = micros;
        this.random = random;
        this.topology = topology;
    }

    @Override
    public RedisTopology topology() {
        return topology;
    }

    State state() {
        return state;
    }

    void setState(State next) {
        state = next;
    }

    /** Returns whether scripts run and their replies arrive. */
    boolean isWorking() {
        return state == State.WELL || state == State.LATE;
    }

    /** Lets replies, and failures, come at once, because the caller's thread waits for them. */
    void waitedFor(Runnable work) {
        isWaitedFor = true;
        try {
            work.run();
        } finally {
            isWaitedFor = false;
        }
    }

    @Override
    public CompletionStage<List<Long>> execute(List<byte[]> keys, byte[][] arguments) {
        return through(() -> server.decide(micros.getAsLong(), keys, arguments));
    }

    /** Returns the overrides that are on the server. */
    SimulatedOverrides overrides() {
        return SimulatedOverrides.shared(new RedisOverrideRepository(this::run, null));
    }

    /** The reading of overrides waits for the reply on its own thread, which here is the only one. */
    private CompletionStage<String> run(List<String> arguments) {
        if (isWorking()) {
            return CompletableFuture.completedFuture(server.overrides(micros.getAsLong(), arguments));
        }
        if (state == State.LOSES_REPLIES) {
            var unused = server.overrides(micros.getAsLong(), arguments);
        }
        return CompletableFuture.failedFuture(new RateLimitStoreException(Reason.TIMEOUT, "simulated", null));
    }

    private <T> CompletionStage<T> through(Supplier<T> script) {
        CompletableFuture<T> reply = new CompletableFuture<>();
        switch (state) {
            case WELL -> complete(reply, script);
            case LATE -> {
                Duration there = delay();
                later(there, () -> {
                    T result = script.get();
                    later(delay(), () -> reply.complete(result));
                });
            }
            case LOSES_REPLIES -> {
                var unused = script.get();
                later(TIMEOUT, () -> reply.completeExceptionally(new QueryTimeoutException("simulated")));
            }
            case HANGS -> later(TIMEOUT, () -> reply.completeExceptionally(new QueryTimeoutException("simulated")));
            case CUT -> reply.completeExceptionally(new RedisConnectionFailureException("simulated"));
        }
        return reply;
    }

    private static <T> void complete(CompletableFuture<T> reply, Supplier<T> script) {
        try {
            reply.complete(script.get());
        } catch (RuntimeException ex) {
            reply.completeExceptionally(ex);
        }
    }

    private Duration delay() {
        return Duration.ofMillis(1 + random.nextInt(40));
    }

    private void later(Duration delay, Runnable work) {
        if (isWaitedFor) {
            work.run();
        } else {
            time.after(delay, work);
        }
    }
}
