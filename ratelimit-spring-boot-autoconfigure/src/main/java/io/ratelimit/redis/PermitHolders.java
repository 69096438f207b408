package io.ratelimit.redis;

import io.ratelimit.Charge;
import io.ratelimit.concurrent.DaemonThreads;
import io.ratelimit.concurrent.Watchdog;
import io.ratelimit.redis.PermitHolder.Place;
import java.lang.System.Logger.Level;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.function.LongConsumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Registers the calls of this instance that hold permits in Redis, has the permits {@linkplain PermitRenewals renewed}, and sends
 * each release until Redis has made it or the permits have expired.
 */
final class PermitHolders {

    private static final System.Logger logger = System.getLogger("io.ratelimit.redis");

    /** How many releases that have failed are sent again at a time. */
    private static final int AGAIN = 1_000;

    private final GuardedRedis redis;

    private final CallDispatcher dispatcher;

    private final ScheduledExecutorService timer;

    private final LongSupplier nanos;

    private final AtomicLong numbers = new AtomicLong();

    private final Map<Place, PermitHolder> held = new ConcurrentHashMap<>();

    private final PermitRenewals renewals;

    /** Those whose release has failed. */
    private final Map<Place, PermitHolder> unreleased = new ConcurrentHashMap<>();

    private final AtomicBoolean releasesPlanned = new AtomicBoolean();

    /** Called for a release of permits that a call waits for, perhaps one of another instance. */
    private volatile Consumer<Charge> listener = charge -> {};

    /** Creates one for a store. */
    @FunctionalInterface
    interface Factory {

        PermitHolders create(GuardedRedis redis, ScriptCodec codec, CallDispatcher dispatcher);
    }

    PermitHolders(GuardedRedis redis, ScriptCodec codec, CallDispatcher dispatcher) {
        this(redis, codec, dispatcher, DaemonThreads.createScheduler("ratelimit-renewal"), System::nanoTime);
        Watchdog.shared().watch(this, PermitHolders::resume);
    }

    /** @param nanos a clock */
    PermitHolders(
            GuardedRedis redis,
            ScriptCodec codec,
            CallDispatcher dispatcher,
            ScheduledExecutorService timer,
            LongSupplier nanos) {
        this.redis = redis;
        this.dispatcher = dispatcher;
        this.timer = timer;
        this.nanos = nanos;
        this.renewals = new PermitRenewals(redis, codec, this::schedule, nanos, held.values(), this::sendAgain);
    }

    void setListener(Consumer<Charge> listener) {
        this.listener = listener;
    }

    void setLossListener(LongConsumer listener) {
        renewals.setLossListener(listener);
    }

    /** Returns the number of a new holder, which is not 0. */
    long next() {
        return numbers.incrementAndGet();
    }

    /** Renews the permits that a call has taken from a bucket, until it releases them. */
    void hold(long holder, Charge charge, byte[] name) {
        PermitHolder taken = new PermitHolder(Place.of(holder, charge), charge, name, nanos.getAsLong());
        held.put(taken.place(), taken);
        renewals.begin(charge.limit().hold());
    }

    /** Releases what a call without a reply may have taken. */
    void release(long holder, List<Charge> charges, List<byte[]> names) {
        for (int i = 0; i < charges.size(); i++) {
            if (!charges.get(i).limit().hasRate()) {
                var unused = release(holder, charges.get(i), names.get(i));
            }
        }
    }

    /**
     * Releases the permits that a call holds of a bucket.
     *
     * @return done when the first attempt has succeeded or failed; there are more attempts then
     */
    CompletableFuture<Void> release(long holder, Charge charge, byte[] name) {
        Place place = Place.of(holder, charge);
        PermitHolder known = held.remove(place);
        PermitHolder releasing = known == null ? new PermitHolder(place, charge, name, nanos.getAsLong()) : known;
        releasing.release();
        return send(releasing);
    }

    /** Sends a release in the order of the calls, so that the next call of the same thread finds the permits. */
    private CompletableFuture<Void> send(PermitHolder releasing) {
        PendingCall<Long> call = new PendingCall<>(
                ScriptCall.RELEASE,
                List.of(new Charge(
                        releasing.charge().limit(), releasing.charge().key(), 0)),
                releasing.holder(),
                List.of(releasing.name()),
                redis.deadline(),
                false,
                (reply, from) -> reply.get(from + 1));
        dispatcher.dispatch(call);
        return call.outcome().handle((waiting, thrown) -> {
            if (thrown != null) {
                releaseLater(releasing);
            } else if (waiting > 0) {
                listener.accept(releasing.charge());
            }
            return null;
        });
    }

    private void sendAgain(PermitHolder releasing) {
        var unused = send(releasing);
    }

    private void releaseLater(PermitHolder releasing) {
        unreleased.put(releasing.place(), releasing);
        planReleases();
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
        for (PermitHolder releasing : List.copyOf(unreleased.values())) {
            if (sent == AGAIN) {
                planReleases();
                return;
            }
            if (unreleased.remove(releasing.place(), releasing) && !releasing.hasExpired(now)) {
                sent++;
                var unused = send(releasing);
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
