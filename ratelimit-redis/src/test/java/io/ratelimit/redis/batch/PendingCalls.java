package io.ratelimit.redis.batch;

import io.ratelimit.RateLimit;
import io.ratelimit.redis.HandTurnedThread;
import io.ratelimit.redis.door.AwakeClock;
import io.ratelimit.redis.door.Deadline;
import io.ratelimit.redis.door.DeadlineTimer;
import io.ratelimit.redis.door.Deadlines;
import io.ratelimit.redis.door.RedisFailureMapper;
import io.ratelimit.redis.door.ServerCall;
import io.ratelimit.redis.script.ScriptCall;
import io.ratelimit.spi.Charge;
import io.ratelimit.testing.TestLimits;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;

/** Calls that are not decided yet. The outcome of each is to be the first number of its part of the reply. */
public final class PendingCalls {

    private static final RateLimit QUOTES = TestLimits.tokenBucket("quotes", 10, "10/s");

    private PendingCalls() {}

    /** A thread waits for it, and has no other time limit than the test. */
    static PendingCall<Long> patient() {
        return by(Deadlines.in(Duration.ofHours(1)));
    }

    /** A thread waited for it. */
    static PendingCall<Long> overdue() {
        return by(Deadlines.in(Duration.ofSeconds(-1)));
    }

    /** A thread waits for it. */
    static PendingCall<Long> by(Deadline deadline) {
        return call(ScriptCall.CHARGE, deadline, true);
    }

    /** No thread waits for it. */
    public static PendingCall<Long> asynchronous() {
        return asynchronous(Deadlines.in(Duration.ofHours(1)));
    }

    /** No thread waits for it. */
    public static PendingCall<Long> asynchronous(Deadline deadline) {
        return call(ScriptCall.CHARGE, deadline, false);
    }

    /** No thread waits for it. */
    static PendingCall<Long> release() {
        return call(ScriptCall.RELEASE, Deadlines.in(Duration.ofHours(1)), false);
    }

    /** All of it at the thread's time, and on the thread. */
    public static DeadlineTimer timeout(HandTurnedThread thread, Duration timeout) {
        return timeout(thread, timeout, Runnable::run);
    }

    public static DeadlineTimer timeout(HandTurnedThread thread, Duration timeout, Executor worker) {
        return new DeadlineTimer(
                timeout,
                new AwakeClock(thread::nanos, timeout.toNanos() / 8),
                (task, nanos) -> thread.schedule(task, nanos, TimeUnit.NANOSECONDS),
                worker,
                worker);
    }

    /** Is counted by no circuit breaker. */
    public static ServerCall<List<Long>> sent(CompletableFuture<List<Long>> reply) {
        return new ServerCall<>(reply, thrown -> thrown == null ? null : RedisFailureMapper.of("Redis", thrown));
    }

    private static PendingCall<Long> call(ScriptCall call, Deadline deadline, boolean isWaitedFor) {
        return new PendingCall<>(
                call,
                List.of(new Charge(QUOTES, "alice", 1)),
                0,
                List.of(new byte[0]),
                deadline,
                isWaitedFor,
                List::get);
    }
}
