package io.ratelimit.autoconfigure;

import io.ratelimit.statistics.RateLimitStatistics;
import org.springframework.context.SmartLifecycle;

/** Counts while there are connections to Redis, so that the last counts and the end of the instance are told. */
final class StatisticsLifecycle implements SmartLifecycle {

    private final RateLimitStatistics statistics;

    private volatile boolean running;

    StatisticsLifecycle(RateLimitStatistics statistics) {
        this.statistics = statistics;
    }

    @Override
    public void start() {
        running = true;
        statistics.start();
    }

    @Override
    public void stop() {
        running = false;
        statistics.stop();
    }

    @Override
    public boolean isRunning() {
        return running;
    }

    /** Stops after the web server, and before the connections to Redis. */
    @Override
    public int getPhase() {
        return 2;
    }
}
