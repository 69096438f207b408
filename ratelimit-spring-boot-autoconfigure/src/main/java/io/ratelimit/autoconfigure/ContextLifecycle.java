package io.ratelimit.autoconfigure;

import org.springframework.beans.factory.DisposableBean;
import org.springframework.context.SmartLifecycle;

/** Starts and stops a part of an application context, also if the start-up of the context fails after that of the part. */
final class ContextLifecycle implements SmartLifecycle, DisposableBean {

    private final int phase;

    private final Runnable start;

    private final Runnable stop;

    private volatile boolean running;

    /** @param phase a higher one starts later and stops earlier; connections to Redis have 0 and 1 */
    ContextLifecycle(int phase, Runnable start, Runnable stop) {
        this.phase = phase;
        this.start = start;
        this.stop = stop;
    }

    @Override
    public void start() {
        running = true;
        start.run();
    }

    @Override
    public void stop() {
        if (running) {
            running = false;
            stop.run();
        }
    }

    @Override
    public boolean isRunning() {
        return running;
    }

    @Override
    public int getPhase() {
        return phase;
    }

    @Override
    public void destroy() {
        stop();
    }
}
