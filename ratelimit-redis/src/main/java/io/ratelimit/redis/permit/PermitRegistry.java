package io.ratelimit.redis.permit;

import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitStoreException;
import io.ratelimit.RateLimitStoreException.Reason;
import io.ratelimit.internal.concurrent.BoundedWait;
import io.ratelimit.internal.concurrent.DaemonThreads;
import io.ratelimit.internal.concurrent.Futures;
import io.ratelimit.internal.concurrent.PeriodicTask;
import io.ratelimit.internal.concurrent.Watchdog;
import io.ratelimit.redis.batch.CallDispatcher;
import io.ratelimit.redis.batch.PendingCall;
import io.ratelimit.redis.door.GuardedRedis;
import io.ratelimit.redis.script.ScriptCall;
import io.ratelimit.redis.script.ScriptCodec;
import io.ratelimit.spi.Charge;
import io.ratelimit.spi.KeyDigest;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.LongConsumer;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Registers the permits that calls of this instance hold in Redis, and attends to them when they are due: has them
 * {@linkplain PermitRenewals renewed} every third of their {@code hold}, and sends each release until Redis has made it or the
 * permits have expired.
 */
public final class PermitRegistry {

    private static final System.Logger logger = System.getLogger("io.ratelimit.redis");

    /** How many releases that have failed are sent again at a time. */
    private static final int AGAIN = 1_000;

    /** Between two attempts to reach a Redis that fails. */
    private static final long RETRY = Duration.ofMillis(500).toNanos();

    /** An attempt that is so late has no thread. */
    private static final long LATE = Duration.ofSeconds(5).toNanos();

    private static final long NEVER = Long.MAX_VALUE;

    private final GuardedRedis redis;

    private final CallDispatcher dispatcher;

    private final LongSupplier nanos;

    private final AtomicLong numbers = new AtomicLong();

    private final Set<PermitHold> held = ConcurrentHashMap.newKeySet();

    private final PermitRenewals renewals;

    /** Those that have ended and whose release has failed. */
    private final Set<PermitHold> unreleased = ConcurrentHashMap.newKeySet();

    private final PeriodicTask attention;

    /** When the next attempt is due. */
    private volatile long planned = NEVER;

    /** When the last attempt began. */
    private volatile long attended;

    /** Whether scripts of an attempt are under way. */
    private volatile boolean attending;

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
        this.nanos = nanos;
        this.attended = nanos.getAsLong() - RETRY;
        this.renewals = new PermitRenewals(redis, codec, nanos, this::sendAgain);
        this.attention = new PeriodicTask(timer, this::attend, this::pauseMillis);
        attention.start();
    }

    public void setListener(Consumer<Charge> listener) {
        this.listener = listener;
    }

    public void setLossListener(LongConsumer listener) {
        renewals.setLossListener(listener);
    }

    /**
     * Decides a call, which asks for permits: one hold for each charge of a limit whose permits calls hold, with the same holder.
     *
     * @throws RateLimitStoreException if this instance stops
     */
    public <T> CompletableFuture<T> decide(
            List<Charge> charges, List<byte[]> names, Function<List<PermitHold>, CompletableFuture<T>> decision) {
        underWay.incrementAndGet();
        try {
            return decision.apply(ask(charges, names)).whenComplete((outcome, thrown) -> ended());
        } catch (Throwable ex) {
            ended();
            throw ex;
        }
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
            planFor(hold);
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
                ended.postpone(nanos.getAsLong() + RETRY);
                unreleased.add(ended);
                planFor(ended);
            } else if (waiting > 0) {
                listener.accept(charge);
            }
            return null;
        });
    }

    private void sendAgain(PermitHold ended) {
        var unused = send(ended);
    }

    /** Plans the next attempt anew if it would be too late for the hold. */
    private void planFor(PermitHold hold) {
        if (hold.due() < planned) {
            plan();
        }
    }

    /** If no thread is available, the watchdog tries again. */
    private void plan() {
        try {
            attention.plan();
        } catch (Throwable ex) {
            logger.log(Level.DEBUG, "No thread is available to renew or release permits; trying again later", ex);
        }
    }

    /** Until the next hold is due, but some time after the attempt before. A hold that is added meanwhile finds nothing planned. */
    private long pauseMillis() {
        planned = NEVER;
        if (attending || redis.isClosed()) {
            return NEVER;
        }
        long next = Stream.concat(held.stream(), unreleased.stream())
                .mapToLong(PermitHold::due)
                .min()
                .orElse(NEVER);
        if (next == NEVER) {
            return NEVER;
        }
        planned = Math.max(next, attended + RETRY);
        return Math.max(0, TimeUnit.NANOSECONDS.toMillis(planned - nanos.getAsLong() + 999_999));
    }

    private void attend() {
        long now = nanos.getAsLong();
        attended = now;
        attending = true;
        var unused = Futures.start(() -> {
                    releaseAgain(now);
                    return renewals.renewDue(due(held, now));
                })
                .whenComplete((done, thrown) -> {
                    if (thrown != null) {
                        logger.log(Level.DEBUG, "A renewal of permits failed; trying again", thrown);
                    }
                    attending = false;
                    plan();
                });
    }

    private static List<PermitHold> due(Set<PermitHold> holds, long now) {
        return holds.stream().filter(hold -> hold.due() <= now).toList();
    }

    /** Makes another attempt for releases that have failed and whose permits have not expired: some of them at a time. */
    private void releaseAgain(long now) {
        due(unreleased, now).stream()
                .filter(unreleased::remove)
                .filter(ended -> !ended.hasExpired(now))
                .limit(AGAIN)
                .forEach(this::sendAgain);
    }

    /** Makes an attempt that is long overdue. Returns a sentence for the log if there was one. */
    @Nullable
    String resume() {
        if (attending || redis.isClosed() || planned == NEVER || nanos.getAsLong() - planned <= LATE) {
            return null;
        }
        plan();
        return "Renewals of permits were stuck and have been resumed";
    }
}
