package io.ratelimit.autoconfigure;

import io.ratelimit.RateLimitChangedEvent;
import io.ratelimit.internal.change.ChangeListener;
import io.ratelimit.internal.limit.LimitNames;
import io.ratelimit.internal.limiter.EffectiveLimit;
import io.ratelimit.internal.store.lease.LeasingRateLimitStore;
import io.ratelimit.spi.RateLimitStore;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.springframework.beans.factory.DisposableBean;

/** Refunds all leases at shutdown, while there are connections, and those of a limit when it changes. */
final class LeasingStoreRegistry implements ChangeListener, DisposableBean {

    /** The maximum time of a shutdown for refunding leases. If Redis does not answer, it ends earlier. */
    private static final Duration SHUTDOWN = Duration.ofSeconds(2);

    /** One for each server. */
    private final List<LeasingRateLimitStore> leases = new CopyOnWriteArrayList<>();

    /**
     * Decorates the store of a server with leases for the limits that configure them.
     *
     * @param timeout the maximum time for a decision
     */
    RateLimitStore over(RateLimitStore store, Duration timeout) {
        LeasingRateLimitStore leasing = new LeasingRateLimitStore(store, timeout);
        leases.add(leasing);
        return leasing;
    }

    /** Returns how many permits of a limit this instance has leased and not handed out. */
    long leased(EffectiveLimit limit) {
        String id = limit.get().id();
        return leases.stream().mapToLong(leasing -> leasing.leased(id)).sum();
    }

    @Override
    public void onChange(RateLimitChangedEvent event) {
        boolean ofLimit = switch (event.kind()) {
            case OVERRIDDEN, OVERRIDE_REMOVED, OVERRIDE_ENDED, RECONFIGURED -> true;
            case RESET, GRANTED, BLOCKED, UNBLOCKED, UNCONFIRMED -> false;
        };
        if (ofLimit) {
            leases.forEach(leasing -> leasing.retire(LimitNames.canonical(event.limitName())));
        }
    }

    void start() {
        leases.forEach(LeasingRateLimitStore::resume);
    }

    void stop() {
        leases.forEach(leasing -> leasing.refundAll(SHUTDOWN));
    }

    @Override
    public void destroy() {
        leases.forEach(LeasingRateLimitStore::close);
    }
}
