package io.ratelimit.redis.batch;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.redis.door.AwakeClock;
import io.ratelimit.redis.door.DeadlineTimer;
import io.ratelimit.redis.door.ServerCall;
import io.ratelimit.redis.script.ScriptCall;
import io.ratelimit.spi.Charge;
import io.ratelimit.testing.BothTiers;
import io.ratelimit.testing.TestLimits;
import io.ratelimit.testing.TestRandom;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Whatever fails at whatever point between a caller and Redis, each call ends in time, and the next is served. Time is the
 * test's: what other threads do while one stands still is done inside of it.
 */
@BothTiers
@Timeout(300)
class RandomFaultTests {

    private static final int CALLS = TestRandom.cases(100_000);

    private static final int CALLS_PER_ROUND = 50;

    private static final Duration TIMEOUT = Duration.ofMillis(100);

    private static final int THREADS = 4;

    /** For a thread to be woken up. */
    private static final long SCHEDULING = Duration.ofMillis(50).toNanos();

    private static final List<Charge> CHARGES =
            List.of(new Charge(TestLimits.tokenBucket("quotes", 10, "10/s"), "a", 1));

    private final Random random = TestRandom.create(RandomFaultTests.class);

    @Test
    void everyCallEndsInTimeAndTheNextIsServed() {
        for (int i = 0; i < CALLS / CALLS_PER_ROUND; i++) {
            Round round = new Round();
            round.run();
            assertThat(round.failures).isEmpty();
            round.assertThatTheNextIsServed();
        }
    }

    private final class Round {

        private final PriorityQueue<Event> events =
                new PriorityQueue<>(Comparator.comparingLong(Event::due).thenComparingLong(Event::number));

        private final Queue<Runnable> work = new ArrayDeque<>();

        private final List<String> failures = new ArrayList<>();

        private long nanos = random.nextLong(Long.MAX_VALUE / 4);

        private final DeadlineTimer timeout = new DeadlineTimer(
                TIMEOUT,
                new AwakeClock(() -> nanos, TIMEOUT.toNanos() / 8),
                (task, delay) -> {
                    after(delay, task);
                    return null;
                },
                this::workLater,
                this::workLater);

        private void workLater(Runnable task) {
            work.add(task);
            after(0, this::work);
        }

        private final BatchQueue queue =
                new BatchQueue(new ConcurrentLinkedQueue<>(), timeout, this::script, this::queueOf, this::alone);

        private long number;

        /** Whether it was the whole JVM that stood still. */
        private long awakeSince = nanos;

        private boolean faulty = true;

        private int standing;

        private int working;

        private void run() {
            long arrival = 0;
            for (int i = 0; i < CALLS_PER_ROUND; i++) {
                arrival += TestRandom.logarithmic(random, 1, TIMEOUT.toNanos() / 2);
                after(arrival, this::call);
            }
            for (int i = random.nextInt(3); i > 0; i--) {
                after(random.nextLong(arrival), this::everythingStandsStill);
            }
            pass(Long.MAX_VALUE);
        }

        private void after(long delay, Runnable task) {
            events.add(new Event(nanos + Math.max(0, delay), number++, task));
        }

        private void pass(long until) {
            for (Event next = events.peek(); next != null && next.due <= until; next = events.peek()) {
                events.remove();
                nanos = Math.max(nanos, next.due);
                try {
                    next.task.run();
                } catch (Throwable ex) {
                    failures.add("Thrown: " + ex);
                }
            }
        }

        private long someTime() {
            return TestRandom.logarithmic(random, 1_000, 5 * TIMEOUT.toNanos());
        }

        /** Of the threads that end what is out of time. */
        private void work() {
            if (working < THREADS && !work.isEmpty()) {
                working++;
                try {
                    work.remove().run();
                } finally {
                    working--;
                    after(0, this::work);
                }
            }
        }

        private void call() {
            boolean waitedFor = random.nextBoolean();
            PendingCall<Long> call = new PendingCall<>(
                    ScriptCall.CHARGE, CHARGES, 0, List.of(new byte[0]), timeout.deadline(), waitedFor, this::read);
            if (!waitedFor) {
                expectEnd(call, 2 * TIMEOUT.toNanos());
            }
            try {
                queue.dispatch(call);
            } catch (Throwable ex) {
                failures.add("Thrown: " + ex);
            }
            if (waitedFor) {
                // By a thread that stood still until now, if it was the one to send.
                expectEnd(call, Math.max(0, call.deadline().nanosLeftAtLast()));
                waitFor(call);
            }
        }

        /** As a thread waits. */
        private void waitFor(PendingCall<?> call) {
            long left = call.nanosLeft();
            if (left > 0) {
                after(left, () -> waitFor(call));
            } else if (!call.isOver() && call.expire()) {
                waitFor(call);
            }
        }

        private void expectEnd(PendingCall<?> call, long delay) {
            after(delay + SCHEDULING, () -> {
                long awake = nanos - awakeSince;
                if (awake < SCHEDULING) {
                    expectEnd(call, -awake);
                } else if (!call.isOver()) {
                    failures.add("A call is " + -call.deadline().nanosLeftAtLast() / 1_000 + " us late");
                }
            });
        }

        private void everythingStandsStill() {
            nanos += someTime();
            awakeSince = nanos;
        }

        private long read(List<Long> reply, int from) {
            failNowAndThen();
            return reply.get(from);
        }

        private void failNowAndThen() {
            if (faulty && random.nextInt(20) == 0) {
                throw random.nextBoolean()
                        ? new OutOfMemoryError("of the test")
                        : new StackOverflowError("of the test");
            }
        }

        private BatchQueue queueOf(PendingCall<?> call) {
            failNowAndThen();
            return queue;
        }

        private void alone(PendingCall<?> call) {
            call.fail(new IllegalStateException());
        }

        private ServerCall<List<Long>> script(Batch batch) {
            failNowAndThen();
            standStillNowAndThen();
            failNowAndThen();
            CompletableFuture<List<Long>> reply = new CompletableFuture<>();
            if (!faulty || random.nextInt(4) == 0) {
                reply.complete(numbers(batch));
            } else if (random.nextInt(4) > 0) {
                after(someTime(), () -> answer(reply, batch));
            }
            failNowAndThen();
            standStillNowAndThen();
            return PendingCalls.sent(reply);
        }

        /** Meanwhile the other threads go on. */
        private void standStillNowAndThen() {
            if (faulty && standing < 3 && random.nextInt(8) == 0) {
                standing++;
                long end = nanos + someTime();
                pass(end);
                nanos = Math.max(nanos, end);
                standing--;
            }
        }

        private void answer(CompletableFuture<List<Long>> reply, Batch batch) {
            switch (random.nextInt(6)) {
                case 0 -> reply.completeExceptionally(new IllegalStateException("of the test"));
                case 1 -> reply.completeExceptionally(new OutOfMemoryError("of the test"));
                case 2 -> reply.complete(List.of());
                default -> reply.complete(numbers(batch));
            }
        }

        private List<Long> numbers(Batch batch) {
            return Collections.nCopies(batch.calls().size() * ScriptCall.CHARGE.numbers(), 7L);
        }

        private void assertThatTheNextIsServed() {
            faulty = false;
            PendingCall<Long> next = new PendingCall<>(
                    ScriptCall.CHARGE, CHARGES, 0, List.of(new byte[0]), timeout.deadline(), false, List::get);
            queue.dispatch(next);
            assertThat(next.outcome()).isCompletedWithValue(7L);
        }
    }

    private record Event(long due, long number, Runnable task) {}
}
