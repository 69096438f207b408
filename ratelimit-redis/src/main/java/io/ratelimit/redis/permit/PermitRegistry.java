package io.ratelimit.redis.permit;

import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitStoreException;
import io.ratelimit.RateLimitStoreException.Reason;
import io.ratelimit.internal.concurrent.BoundedWait;
import io.ratelimit.internal.concurrent.DaemonThreads;
import io.ratelimit.internal.concurrent.Futures;
import io.ratelimit.internal.concurrent.Watchdog;
import io.ratelimit.redis.batch.CallDispatcher;
import io.ratelimit.redis.batch.PendingCall;
import io.ratelimit.redis.door.GuardedRedis;
import io.ratelimit.redis.door.RedisFailureMapper;
import io.ratelimit.redis.script.ScriptCall;
import io.ratelimit.redis.script.ScriptCodec;
import io.ratelimit.spi.Charge;
import io.ratelimit.spi.KeyDigest;
import java.lang.System.Logger.Level;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.LongConsumer;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Registers the permits that calls of this instance hold in Redis, has them {@linkplain PermitRenewals renewed}, and sends each
 * release until Redis has made it or the permits have expired.
 */
public final class PermitRegistry {

    private static final System.Logger logger = System.getLogger("io.ratelimit.redis");

    /** How many releases that have failed are sent again at a time. */
    private static final int AGAIN = 1_000;

    private final GuardedRedis redis;

    private final CallDispatcher dispatcher;

    private final ScheduledExecutorService timer;

    private final LongSupplier nanos;

    /** By which Redis knows the calls of this instance. */
    private final AtomicLong numbers = new AtomicLong();

    private final Set<PermitHold> held = ConcurrentHashMap.newKeySet();

    private final PermitRenewals renewals;

    /** Those that have ended and whose release has failed. */
    private final Set<PermitHold> unreleased = ConcurrentHashMap.newKeySet();

    private final AtomicBoolean releasesPlanned = new AtomicBoolean();

    /** How many decisions about permits, and releases, are under way. */
    private final AtomicInteger underWay = new AtomicInteger();

    /** Done when nothing is under way any more after a stop. */
    private volatile CompletableFuture<Void> quiet = new CompletableFuture<>();

    /** Called for a release of permits that a call waits for, perhaps one of another instance. */
    private volatile Consumer<Charge> listener = charge -> {};

    /** Creates one for a store. */
    @FunctionalInterface
    public interface Factory {

        PermitRegistry create(GuardedRedis redis, ScriptCodec codec, CallDispatcher dispatcher);
    }

    public PermitRegistry(GuardedRedis redis, ScriptCodec codec, CallDispatcher dispatcher) {
        this(redis, codec, dispatcher, DaemonThreads.createScheduler("ratelimit-renewal"), System::nanoTime);
        redis.onDestroy(timer::shutdown);
        Watchdog.shared().watch(this, PermitRegistry::resume);
    }

    /** @param nanos a clock */
    public PermitRegistry(
            GuardedRedis redis,
            ScriptCodec codec,
            CallDispatcher dispatcher,
            ScheduledExecutorService timer,
            LongSupplier nanos) {
        this.redis = redis;
        this.dispatcher = dispatcher;
        this.timer = timer;
        this.nanos = nanos;
        this.renewals = new PermitRenewals(redis, codec, this::schedule, nanos, held, this::sendAgain);
    }

    public void setListener(Consumer<Charge> listener) {
        this.listener = listener;
    }

    public void setLossListener(LongConsumer listener) {
        renewals.setLossListener(listener);
    }

    /**
     * Decides a call, which asks for permits: one hold for each charge of a limit whose permits calls hold, with the same holder.
     * If it is not known whether the call has taken them, because Redis has failed, they are released.
     *
     * @throws RateLimitStoreException if this instance stops
     */
    public <T> CompletableFuture<T> decide(
            List<Charge> charges, List<byte[]> names, Function<List<PermitHold>, CompletableFuture<T>> decision) {
        underWay.incrementAndGet();
        try {
            List<PermitHold> asked = ask(charges, names);
            return decision.apply(asked)
                    .whenComplete((outcome, thrown) -> {
                        if (thrown != null && mayHaveTaken(thrown)) {
                            var unused = PermitHold.end(asked);
                        }
                    })
                    .whenComplete((outcome, thrown) -> ended());
        } catch (Throwable ex) {
            ended();
            throw ex;
        }
    }

    /** Returns whether a call may have taken permits that has failed. An open circuit breaker sends nothing. */
    private static boolean mayHaveTaken(Throwable failure) {
        boolean sent = !(Futures.unwrap(failure) instanceof RateLimitStoreException refused)
                || refused.getReason() != Reason.SHORT_CIRCUITED;
        return sent && !RedisFailureMapper.areKeysApart(failure);
    }

    private void ended() {
        if (underWay.decrementAndGet() == 0 && redis.isStopping()) {
            quiet.complete(null);
        }
    }

    List<PermitHold> ask(List<Charge> charges, List<byte[]> names) {
        if (redis.isStopping()) {
            throw new RateLimitStoreException(Reason.CLOSED, "Redis: this instance stops", null);
        }
        long holder = numbers.incrementAndGet();
        List<PermitHold> asked = new ArrayList<>(charges.size());
        for (int i = 0; i < charges.size(); i++) {
            if (!charges.get(i).limit().hasRate()) {
                asked.add(new PermitHold(this, holder, charges.get(i), names.get(i)));
            }
        }
        return asked;
    }

    /** Renews permits until their hold ends. */
    void begin(PermitHold hold) {
        hold.renew(nanos.getAsLong());
        held.add(hold);
        if (redis.isStopping()) {
            // It was asked for before.
            var unused = hold.end();
        } else if (hold.isHeld()) {
            renewals.begin(hold.charge().limit().hold());
        } else {
            held.remove(hold);
        }
    }

    /** Releases the permits of a hold that has ended. */
    CompletableFuture<Void> end(PermitHold hold) {
        if (!held.remove(hold)) {
            // The call may have taken them just now.
            hold.renew(nanos.getAsLong());
        }
        return send(hold);
    }

    /** Returns how many permits of the limit calls of this instance hold, of all keys together. */
    public long permits(RateLimit limit) {
        long permits = 0;
        for (PermitHold hold : held) {
            if (hold.charge().limit().id().equals(limit.id())) {
                permits += hold.charge().permits();
            }
        }
        return permits;
    }

    /**
     * Resets a bucket, and ends the holds of this instance that began before. Redis is asked about those that have begun meanwhile.
     *
     * @param name of the bucket in Redis
     * @param script resets the bucket
     * @return the reply of the script
     */
    public CompletableFuture<List<Long>> reset(
            Charge bucket, byte[] name, Supplier<CompletableFuture<List<Long>>> script) {
        Predicate<PermitHold> ofBucket = hold -> Arrays.equals(hold.name(), name);
        List<PermitHold> before = held.stream().filter(ofBucket).toList();
        return script.get().thenCompose(reply -> {
            if (reply.get(2) > 0) {
                listener.accept(bucket);
            }
            var unused = PermitHold.end(before);
            return endReset(ofBucket).thenApply(done -> reply);
        });
    }

    /** Another instance has reset a bucket. Calls may have taken permits since, so that Redis is asked which holds have ended. */
    public void forget(String limit, String keyDigest) {
        var unused = endReset(hold -> {
            Charge charge = hold.charge();
            return charge.limit().id().equals(limit)
                    && KeyDigest.of(charge.key() == null ? "" : charge.key()).equals(keyDigest);
        });
    }

    /** If Redis fails, the next renewal ends the holds. */
    private CompletableFuture<Void> endReset(Predicate<PermitHold> some) {
        return renewals.renew(held.stream().filter(some).toList()).exceptionally(thrown -> null);
    }

    /**
     * Numbers calls anew. Several instances may go on from one checkpoint, and would have the same numbers: each would end the holds of
     * the others.
     */
    public void start() {
        numbers.set(new SecureRandom().nextLong(1L << 40));
    }

    /**
     * Ends all holds, and waits for the releases, at most for that time: also for those of calls that are being decided, which may
     * take permits that they do not hold yet.
     */
    public void stop(Duration time) {
        quiet = new CompletableFuture<>();
        underWay.incrementAndGet();
        var unused = PermitHold.end(held);
        ended();
        BoundedWait.await(quiet, time);
    }

    /** Sends a release in the order of the calls, so that the next call of the same thread finds the permits. */
    private CompletableFuture<Void> send(PermitHold ended) {
        Charge charge = ended.charge();
        PendingCall<Long> call = new PendingCall<>(
                ScriptCall.RELEASE,
                List.of(new Charge(charge.limit(), charge.key(), 0)),
                ended.holder(),
                List.of(ended.name()),
                redis.deadline(),
                false,
                (reply, from) -> reply.get(from + 1));
        underWay.incrementAndGet();
        dispatcher.dispatch(call);
        return call.outcome().handle((waiting, thrown) -> {
            ended();
            if (thrown != null) {
                unreleased.add(ended);
                planReleases();
            } else if (waiting > 0) {
                listener.accept(charge);
            }
            return null;
        });
    }

    private void sendAgain(PermitHold ended) {
        var unused = send(ended);
    }

    private void planReleases() {
        if (!redis.isClosed()
                && releasesPlanned.compareAndSet(false, true)
                && !schedule(this::releaseAgain, PermitRenewals.RETRY.toNanos())) {
            releasesPlanned.set(false);
        }
    }

    /** Makes another attempt for releases that have failed and whose permits have not expired: some of them at a time. */
    private void releaseAgain() {
        releasesPlanned.set(false);
        long now = nanos.getAsLong();
        int sent = 0;
        for (PermitHold ended : List.copyOf(unreleased)) {
            if (sent == AGAIN) {
                planReleases();
                return;
            }
            if (unreleased.remove(ended) && !ended.hasExpired(now)) {
                sent++;
                sendAgain(ended);
            }
        }
    }

    /** Returns whether a thread is available for the task. Otherwise the watchdog tries again. */
    private boolean schedule(Runnable task, long delay) {
        try {
            var unused = timer.schedule(task, delay, TimeUnit.NANOSECONDS);
            return true;
        } catch (RejectedExecutionException ex) {
            // Closed.
        } catch (Throwable ex) {
            logger.log(Level.DEBUG, "No thread is available to renew or release permits; trying again later", ex);
        }
        return false;
    }

    /** Continues rounds of renewals that have ended too early. Returns a sentence for the log if there were any. */
    @Nullable
    String resume() {
        if (redis.isClosed()) {
            return null;
        }
        if (!unreleased.isEmpty()) {
            planReleases();
        }
        return renewals.resume() ? "Renewals of permits were stuck and have been resumed" : null;
    }
}
