package io.ratelimit.internal.change;

import static org.mockito.Mockito.mock;

import io.ratelimit.LimitConfiguration;
import io.ratelimit.OnStoreFailure;
import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitAdmin;
import io.ratelimit.RateLimitOverride;
import io.ratelimit.RateLimitStoreException;
import io.ratelimit.RateLimitStoreException.Reason;
import io.ratelimit.event.RateLimitChangedEvent;
import io.ratelimit.internal.limit.LimitNames;
import io.ratelimit.internal.limiter.EffectiveLimit;
import io.ratelimit.internal.limiter.LimitCatalog;
import io.ratelimit.internal.limiter.RateLimitSettings;
import io.ratelimit.redis.HandTurnedThread;
import io.ratelimit.testing.TestSettings;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Delayed;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** One instance whose overrides are in an {@link OverrideServer}, behind a network that the test slows down or cuts. */
final class SimulatedInstance implements OverrideRepository {

    enum Network {
        /** A request is replied at once. */
        UP,
        /** The test says when the server runs a request, and when the reply comes. */
        SLOW,
        DOWN
    }

    Network network = Network.UP;

    /** Those without a reply, if the network is slow. */
    final List<Request> requests = new ArrayList<>();

    /** How many requests there were. */
    int sent;

    /** What the server has said to the request that it has run last. */
    @Nullable
    OverrideSnapshot last;

    final List<RateLimitChangedEvent> events = new ArrayList<>();

    final LimitCatalog catalog;

    final OverrideSynchronizer synchronizer;

    final RateLimitAdmin admin;

    private final OverrideServer server;

    private final HandTurnedThread thread = new CancellingThread();

    SimulatedInstance(OverrideServer server, LimitConfiguration... limits) {
        this.server = server;
        catalog = new LimitCatalog(settings(limits), null, () -> false);
        catalog.complete();
        synchronizer = new OverrideSynchronizer(this, ChangeChannel.NONE, thread::nanos, thread);
        synchronizer.addListener(catalog, events::add);
        synchronizer.add(catalog);
        admin = new LimitAdmin(catalog, synchronizer, mock(), () -> false, property -> null);
    }

    private static RateLimitSettings settings(LimitConfiguration... limits) {
        return TestSettings.of(
                false,
                OnStoreFailure.LOCAL,
                Arrays.stream(limits)
                        .collect(Collectors.toMap(
                                limit -> LimitNames.canonical(limit.limitName()), Function.identity())));
    }

    EffectiveLimit limit(String name) {
        return catalog.effective(name).orElseThrow();
    }

    RateLimit effective(String name) {
        return limit(name).get();
    }

    /** Reads other properties. */
    void refresh(LimitConfiguration... limits) {
        synchronizer.reconfigured(catalog.reconfigure(settings(limits)));
    }

    /** Lets time pass on this instance alone, which does what is due. */
    void pass(Duration time) {
        thread.pass(time);
    }

    /** Reads the overrides, as after a message of another instance, but without waiting for the reply. */
    void poll() {
        var unused = synchronizer.refresh();
    }

    @Override
    public CompletionStage<OverrideSnapshot> read() {
        return send(server::read);
    }

    @Override
    public CompletionStage<OverrideSnapshot> write(
            String id, @Nullable RateLimitOverride next, @Nullable String principal, long expectedVersion) {
        return send(() -> server.write(id, next, principal, expectedVersion));
    }

    private CompletionStage<OverrideSnapshot> send(Supplier<OverrideSnapshot> work) {
        sent++;
        Request request = new Request(work);
        switch (network) {
            case UP -> {
                request.run();
                request.reply();
            }
            case SLOW -> requests.add(request);
            case DOWN ->
                request.future.completeExceptionally(
                        new RateLimitStoreException(Reason.OVERLOADED, "Redis: too many requests", null));
        }
        return request.future;
    }

    @Override
    public boolean isShared() {
        return true;
    }

    /** A request that the server runs first, and that is replied later. */
    final class Request {

        private final CompletableFuture<OverrideSnapshot> future = new CompletableFuture<>();

        private final Supplier<OverrideSnapshot> work;

        private @Nullable OverrideSnapshot reply;

        Request(Supplier<OverrideSnapshot> work) {
            this.work = work;
        }

        boolean isRun() {
            return reply != null;
        }

        void run() {
            reply = work.get();
            last = reply;
        }

        void reply() {
            requests.remove(this);
            future.complete(reply);
        }
    }

    private static final class CancellingThread extends HandTurnedThread {

        @Override
        public ScheduledFuture<?> schedule(Runnable work, long delay, TimeUnit unit) {
            Task task = new Task();
            var unused = super.schedule(
                    () -> {
                        if (!task.isCancelled()) {
                            work.run();
                        }
                    },
                    delay,
                    unit);
            return task;
        }
    }

    private static final class Task extends CompletableFuture<Void> implements ScheduledFuture<Void> {

        @Override
        public long getDelay(TimeUnit unit) {
            throw new UnsupportedOperationException();
        }

        @Override
        public int compareTo(Delayed other) {
            throw new UnsupportedOperationException();
        }
    }
}
