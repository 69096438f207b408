package io.ratelimit.autoconfigure;

import io.ratelimit.change.OverrideSynchronizer;
import io.ratelimit.limiter.LimitCatalog;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.context.SmartLifecycle;

/** Applies overrides to the limits of a context from its start, before there is traffic, to its end. */
final class OverrideLifecycle implements SmartLifecycle, DisposableBean {

    private final OverrideSynchronizer synchronizer;

    private final LimitCatalog catalog;

    private volatile boolean running;

    OverrideLifecycle(OverrideSynchronizer synchronizer, LimitCatalog catalog) {
        this.synchronizer = synchronizer;
        this.catalog = catalog;
    }

    @Override
    public void start() {
        running = true;
        synchronizer.add(catalog);
    }

    @Override
    public void stop() {
        running = false;
        synchronizer.remove(catalog);
    }

    @Override
    public boolean isRunning() {
        return running;
    }

    /** Starts after the connections to Redis, and before the web server. */
    @Override
    public int getPhase() {
        return 3;
    }

    @Override
    public void destroy() {
        synchronizer.remove(catalog);
    }
}
