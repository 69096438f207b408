package io.ratelimit.redis.connection;

import io.netty.util.Timeout;
import io.netty.util.Timer;
import io.netty.util.TimerTask;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Runs no task of a client that was shut down. A handshake that was under way times out half a second later, when its event loop
 * has ended, and Netty would log an ERROR.
 */
final class StoppableTimer implements Timer {

    private final Timer timer;

    /** How many clients were shut down. */
    private final AtomicInteger ended = new AtomicInteger();

    StoppableTimer(Timer timer) {
        this.timer = timer;
    }

    /** Drops the tasks so far. Later ones, of another client, run. */
    void drop() {
        ended.incrementAndGet();
    }

    @Override
    public Timeout newTimeout(TimerTask task, long delay, TimeUnit unit) {
        int client = ended.get();
        return timer.newTimeout(
                timeout -> {
                    if (client == ended.get()) {
                        task.run(timeout);
                    }
                },
                delay,
                unit);
    }

    @Override
    public Set<Timeout> stop() {
        return timer.stop();
    }
}
