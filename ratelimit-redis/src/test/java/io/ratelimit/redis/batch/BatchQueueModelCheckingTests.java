package io.ratelimit.redis.batch;

import io.ratelimit.redis.door.AwakeClock;
import io.ratelimit.redis.door.Deadline;
import io.ratelimit.redis.door.DeadlineTimer;
import io.ratelimit.redis.door.ServerCall;
import io.ratelimit.redis.script.ScriptCall;
import io.ratelimit.spi.Charge;
import io.ratelimit.testing.LongRunning;
import io.ratelimit.testing.TestLimits;
import io.ratelimit.testing.TestRandom;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.jetbrains.lincheck.Lincheck;
import org.junit.jupiter.api.Test;

/** Runs a queue and its timer in every order of their steps that the model checker finds: every call ends. */
@LongRunning
class BatchQueueModelCheckingTests {

    private static final int ORDERS = TestRandom.cases(7_500);

    private static final Duration TIMEOUT = Duration.ofNanos(800);

    private static final List<Charge> CHARGES =
            List.of(new Charge(TestLimits.tokenBucket("quotes", 10, "10/s"), "alice", 1));

    @Test
    void callToASilentServerEndsWheneverTheTimerGoesOff() {
        Lincheck.runConcurrentTest(ORDERS, () -> {
            Pipeline pipeline = new Pipeline();
            PendingCall<Long> call = pipeline.call();
            inParallel(() -> pipeline.queue.dispatch(call), pipeline::timerGoesOff);
            pipeline.untilIdle();
            check(call.isOver(), "the call has not ended");
            check(pipeline.servesAnother(), "another call is not sent");
        });
    }

    @Test
    void callsThatArriveAtOnceAndAreAnsweredAtOnceAllEnd() {
        Lincheck.runConcurrentTest(ORDERS, () -> {
            Pipeline pipeline = new Pipeline();
            pipeline.isNonBlocking = true;
            PendingCall<Long> one = pipeline.call();
            PendingCall<Long> other = pipeline.call();
            inParallel(() -> pipeline.queue.dispatch(one), () -> pipeline.queue.dispatch(other));
            check(one.isOver() && other.isOver(), "a call was not sent");
        });
    }

    @Test
    void callThatArrivesWithAnAnswerIsSent() {
        Lincheck.runConcurrentTest(ORDERS, () -> {
            Pipeline pipeline = new Pipeline();
            PendingCall<Long> one = pipeline.call();
            PendingCall<Long> other = pipeline.call();
            pipeline.queue.dispatch(one);
            inParallel(pipeline::answerAll, () -> pipeline.queue.dispatch(other));
            pipeline.answerAll();
            check(one.isOver() && other.isOver(), "a call was not sent");
        });
    }

    /** The thread that sends it comes back from the driver just then. */
    @Test
    void circuitBreakerIsToldOnceOfAScriptThatIsGivenUp() {
        Lincheck.runConcurrentTest(ORDERS, () -> {
            Deadline deadline = new Pipeline().timeout.deadline();
            Batch batch = new Batch(deadline, overdue -> {});
            AtomicInteger told = new AtomicInteger();
            ServerCall<List<Long>> script = new ServerCall<>(new CompletableFuture<>(), thrown -> {
                told.incrementAndGet();
                return null;
            });
            inParallel(
                    () -> batch.sent(script, 0, deadline),
                    () -> check(batch.end(List.of(), new TimeoutException()), "the script has ended before"));
            check(told.get() == 1, "the circuit breaker was not told once");
        });
    }

    private static void check(boolean holds, String otherwise) {
        if (!holds) {
            throw new AssertionError(otherwise);
        }
    }

    private static void inParallel(Runnable one, Runnable other) {
        Thread first = new Thread(one);
        Thread second = new Thread(other);
        first.start();
        second.start();
        try {
            first.join();
            second.join();
        } catch (InterruptedException ex) {
            throw new AssertionError(ex);
        }
    }

    /** A queue whose time, timer and server are the test's. */
    private static final class Pipeline {

        private final Queue<Runnable> timer = new ConcurrentLinkedQueue<>();

        private final Queue<CompletableFuture<List<Long>>> replies = new ConcurrentLinkedQueue<>();

        private final AtomicLong nanos = new AtomicLong();

        private boolean isNonBlocking;

        private final DeadlineTimer timeout = new DeadlineTimer(
                TIMEOUT,
                new AwakeClock(nanos::get, TIMEOUT.toNanos()),
                (task, delay) -> {
                    timer.add(task);
                    return null;
                },
                Runnable::run,
                Runnable::run);

        private final BatchQueue queue = new BatchQueue(
                new ConcurrentLinkedQueue<>(),
                timeout,
                this::send,
                this::queue,
                call -> call.fail(new IllegalStateException()));

        private BatchQueue queue(PendingCall<?> call) {
            return queue;
        }

        private ServerCall<List<Long>> send(Batch batch) {
            CompletableFuture<List<Long>> reply = new CompletableFuture<>();
            replies.add(reply);
            if (isNonBlocking) {
                answerAll();
            }
            return PendingCalls.sent(reply);
        }

        private PendingCall<Long> call() {
            return new PendingCall<>(
                    ScriptCall.CHARGE, CHARGES, 0, List.of(new byte[0]), timeout.deadline(), false, List::get);
        }

        /** All that it is set to, and time enough for each. */
        private void timerGoesOff() {
            for (Runnable task = timer.poll(); task != null; task = timer.poll()) {
                nanos.addAndGet(TIMEOUT.toNanos());
                task.run();
            }
        }

        private void untilIdle() {
            for (int i = 0; i < 10 && !timer.isEmpty(); i++) {
                nanos.addAndGet(TIMEOUT.toNanos());
                timer.remove().run();
            }
        }

        private void answerAll() {
            for (CompletableFuture<List<Long>> reply = replies.poll(); reply != null; reply = replies.poll()) {
                reply.complete(List.of(1L, 1L, 1L, 1L, 1L, 1L, 1L, 1L, 1L, 1L, 1L, 1L, 1L, 1L, 1L, 1L));
            }
        }

        private boolean servesAnother() {
            replies.clear();
            queue.dispatch(call());
            return !replies.isEmpty();
        }
    }
}
