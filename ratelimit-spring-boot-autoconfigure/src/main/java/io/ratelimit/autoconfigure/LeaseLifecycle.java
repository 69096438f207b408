package io.ratelimit.autoconfigure;

import io.ratelimit.LimitNames;
import io.ratelimit.RateLimitChangedEvent;
import io.ratelimit.change.ChangeListener;
import io.ratelimit.limiter.EffectiveLimit;
import io.ratelimit.store.RateLimitStore;
import io.ratelimit.store.lease.LeasingRateLimitStore;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.context.SmartLifecycle;

/** Refunds all leases at shutdown, while there are connections, and those of a limit when it changes. */
final class LeaseLifecycle implements ChangeListener, SmartLifecycle, DisposableBean {

    /** The maximum time of a shutdown for refunding leases. If Redis does not answer, it ends earlier. */
    private static final Duration SHUTDOWN = Duration.ofSeconds(2);

    private final Duration timeout;

    private @Nullable LeasingRateLimitStore leases;

    private volatile boolean running;

    /** @param timeout the maximum time for a decision */
    LeaseLifecycle(Duration timeout) {
        this.timeout = timeout;
    }

    /** Decorates the store with leases for the limits that configure them. */
    RateLimitStore over(RateLimitStore store) {
        LeasingRateLimitStore leasing = new LeasingRateLimitStore(store, timeout);
        leases = leasing;
        return leasing;
    }

    /** Returns how many permits of a limit this instance has leased and not handed out. */
    long leased(EffectiveLimit limit) {
        LeasingRateLimitStore leasing = leases;
        return leasing == null ? 0 : leasing.leased(limit.get().id());
    }

    @Override
    public void onChange(RateLimitChangedEvent event) {
        boolean ofLimit = switch (event.kind()) {
            case OVERRIDDEN, OVERRIDE_REMOVED, OVERRIDE_ENDED, RECONFIGURED -> true;
            case RESET, GRANTED, BLOCKED, UNBLOCKED -> false;
        };
        if (ofLimit && leases != null) {
            leases.retire(LimitNames.canonical(event.limitName()));
        }
    }

    @Override
    public void start() {
        running = true;
        if (leases != null) {
            leases.resume();
        }
    }

    @Override
    public void stop() {
        running = false;
        if (leases != null) {
            leases.refundAll(SHUTDOWN);
        }
    }

    @Override
    public boolean isRunning() {
        return running;
    }

    /** Stops after the web server, and before the connections to Redis, which have phase 1. */
    @Override
    public int getPhase() {
        return 2;
    }

    @Override
    public void destroy() {
        if (leases != null) {
            leases.close();
        }
    }
}
