package io.ratelimit.internal.store.contract;

import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitAdmin.BucketStatus;
import io.ratelimit.RateLimitDecision;
import io.ratelimit.spi.BucketChange;
import io.ratelimit.spi.BucketChange.Kind;
import io.ratelimit.spi.Charge;
import io.ratelimit.spi.RateLimitStore;
import io.ratelimit.spi.StoreOutcome;
import io.ratelimit.spi.StoreRequest;
import io.ratelimit.testing.TestClock;
import io.ratelimit.testing.TestRandom;
import io.ratelimit.testing.reference.ReferenceStore;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletionStage;

/** Draws calls of limits that block keys, what operators do meanwhile, and the times between, with a liking for the edges. */
final class BlockingTrace {

    private static final int STEPS = 60;

    /** Where the clock, and a bucket's time with it, must end to stay exact. */
    private static final long END = 1L << 52;

    private static final String KEY = "key";

    private final Random random;

    private final List<RateLimit> limits;

    private final TestClock clock = new TestClock();

    private final ReferenceStore reference = new ReferenceStore(clock);

    private final List<Step> steps = new ArrayList<>();

    private List<RateLimitDecision> last = List.of();

    private long end;

    private BlockingTrace(Random random, List<RateLimit> limits) {
        this.random = random;
        this.limits = limits;
    }

    /** Calls that are charged to all of the limits together, and changes of their buckets. */
    static List<Step> draw(Random random, List<RateLimit> limits) {
        BlockingTrace trace = new BlockingTrace(random, limits);
        trace.draw();
        return trace.steps;
    }

    /**
     * What is asked of a store at a time.
     *
     * @param decisions how many it makes
     * @param expected what the reference has answered
     */
    record Step(long now, Question question, int decisions, Object expected) {

        CompletionStage<?> ask(RateLimitStore store) {
            return question.ask(store);
        }

        @Override
        public String toString() {
            return now + ": " + question + " -> " + expected;
        }
    }

    /** What a store can be asked. */
    interface Question {

        CompletionStage<?> ask(RateLimitStore store);
    }

    private record Call(List<Charge> charges) implements Question {

        @Override
        public CompletionStage<?> ask(RateLimitStore store) {
            return store.decide(StoreRequest.of(charges)).toStage().thenApply(StoreOutcome::decisions);
        }

        @Override
        public String toString() {
            return charges.stream().map(Charge::permits).toList().toString();
        }
    }

    private record Peek(Charge charge) implements Question {

        @Override
        public CompletionStage<?> ask(RateLimitStore store) {
            return store.decide(StoreRequest.peek(charge)).toStage().thenApply(StoreOutcome::decision);
        }

        @Override
        public String toString() {
            return "peek " + charge.permits();
        }
    }

    private record Change(RateLimit limit, BucketChange change) implements Question {

        @Override
        public CompletionStage<?> ask(RateLimitStore store) {
            return store.change(limit, KEY, change);
        }

        @Override
        public String toString() {
            return change + " of " + limit.name();
        }
    }

    private void draw() {
        clock.set(random.nextInt(4) == 0 ? random.nextLong(END / 2) : TestClock.TODAY);
        while (steps.size() < STEPS) {
            RateLimit one = limits.get(random.nextInt(limits.size()));
            switch (random.nextInt(16)) {
                case 0 -> ask(new Peek(new Charge(one, KEY, permits(one))), 1);
                case 1, 2 -> change(one);
                default -> call();
            }
            advance(step());
        }
    }

    private void call() {
        List<Charge> charges = limits.stream()
                .map(limit -> new Charge(limit, KEY, permits(limit)))
                .toList();
        last = reference.decide(StoreRequest.of(charges)).await().decisions();
        steps.add(new Step(clock.micros(), new Call(charges), charges.size(), last));
        for (RateLimitDecision decision : last) {
            end = decision.allowed() ? end : clock.micros() + micros(decision.retryAfter());
        }
    }

    private void change(RateLimit limit) {
        BucketChange change = switch (random.nextInt(6)) {
            case 0 -> BucketChange.UNBLOCK;
            case 1 -> BucketChange.block(Duration.of(blockMicros(), ChronoUnit.MICROS));
            case 2, 3 -> BucketChange.grant(TestRandom.logarithmic(random, 1, limit.capacity()));
            default -> BucketChange.NONE;
        };
        ask(new Change(limit, change), 1);
        if (change.kind() == Kind.BLOCK) {
            end = clock.micros() + change.amount();
        }
    }

    private void ask(Question question, int decisions) {
        Object answer = question.ask(reference).toCompletableFuture().join();
        steps.add(new Step(clock.micros(), question, decisions, answer));
        if (answer instanceof BucketStatus status && status.isBlocked()) {
            end = clock.micros() + micros(status.blockedFor());
        }
    }

    private long blockMicros() {
        return TestRandom.logarithmic(random, 1, 100_000_000_000L);
    }

    private long permits(RateLimit limit) {
        return switch (random.nextInt(12)) {
            case 0 -> 0;
            case 1, 2, 3 -> limit.capacity();
            case 4 -> limit.capacity() + 1;
            case 5, 6 -> random.nextLong(limit.capacity()) + 1;
            case 7 -> random.nextInt(20) == 0 ? Long.MAX_VALUE : TestRandom.logarithmic(random, 1, limit.capacity());
            default -> 1;
        };
    }

    /** The time to the next step: often just before or after the end of a block or of its memory. */
    private long step() {
        RateLimit limit = limits.get(random.nextInt(limits.size()));
        long left = Math.max(0, end - clock.micros());
        long edge = random.nextLong(3) - 1;
        return switch (random.nextInt(16)) {
            case 0, 1, 2, 3 -> 0;
            case 4, 5, 6 -> left + edge;
            case 7 -> left + blockOf(limit) + edge;
            case 8 -> 2 * left + edge;
            case 9 -> left + random.nextLong(blockOf(limit) + 1);
            case 10 -> random.nextLong(left + 1);
            case 11 -> random.nextLong(10 * limit.numbers().reducedRate().timeOf(1, 0) + 1);
            case 12 -> limit.fullMicros() - clock.micros() % limit.fullMicros() - random.nextInt(2);
            case 13 -> last.isEmpty() ? 0 : micros(last.get(0).resetAfter()) + edge;
            case 14 -> random.nextLong(100);
            default -> TestRandom.logarithmic(random, 1, 1_000_000_000_000L);
        };
    }

    private static long blockOf(RateLimit limit) {
        return limit.blockFor().isEmpty() ? 0 : micros(limit.blockFor().get(0));
    }

    private void advance(long step) {
        if (clock.micros() + step < END) {
            clock.advance(Math.max(0, step));
        }
    }

    private static long micros(Duration time) {
        return time == null ? 0 : TestClock.inMicros(time);
    }
}
