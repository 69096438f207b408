package io.ratelimit.autoconfigure;

import io.ratelimit.store.RateLimitStore;
import io.ratelimit.store.lease.LeasingRateLimitStore;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.context.SmartLifecycle;

/** Has what is leased given back while there still are connections. */
final class LeaseLifecycle implements SmartLifecycle, DisposableBean {

    /** The longest that a shutdown waits until all leases are refunded; a Redis that does not answer ends it earlier. */
    private static final Duration SHUTDOWN = Duration.ofSeconds(2);

    private final Duration timeout;

    private @Nullable LeasingRateLimitStore leases;

    private volatile boolean running;

    /** @param timeout the longest that a decision may take */
    LeaseLifecycle(Duration timeout) {
        this.timeout = timeout;
    }

    /** Leases from the store, of limits that want it. */
    RateLimitStore over(RateLimitStore store) {
        LeasingRateLimitStore leasing = new LeasingRateLimitStore(store, timeout);
        leases = leasing;
        return leasing;
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

    /** Stopped after those who serve, and before the way to Redis, which is of phase 1. */
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
