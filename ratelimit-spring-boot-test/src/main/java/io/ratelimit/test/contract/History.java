package io.ratelimit.test.contract;

import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitDecision;
import io.ratelimit.spi.Charge;
import io.ratelimit.spi.RateLimitStore;
import io.ratelimit.spi.StoreOutcome;
import io.ratelimit.spi.StoreRequest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** A random history of calls for one key, which all stores under test are asked alike. */
final class History {

    private static final long HOUR = 3_600_000_000L;

    private static final long DAY = 24 * HOUR;

    private final String seed;

    private final Random random;

    private final List<StoreUnderTest> stores;

    private final AtomicLong clock;

    private final String key;

    private final long start;

    private final List<String> steps = new ArrayList<>();

    private RateLimitDecision last = RateLimitDecision.unlimited(1);

    /** @param seed how to repeat it, for messages */
    History(String seed, Random random, List<StoreUnderTest> stores, AtomicLong clock, String key) {
        this.seed = seed;
        this.random = random;
        this.stores = stores;
        this.clock = clock;
        this.key = key;
        this.start = clock.get();
    }

    String key() {
        return key;
    }

    long now() {
        return clock.get();
    }

    void setClock(long micros) {
        clock.set(micros);
    }

    /** Draws permits: one, all, too many, none, or any number. */
    long drawPermits(RateLimit limit) {
        return switch (random.nextInt(12)) {
            case 0 -> 0;
            case 1 -> limit.capacity() + 1;
            case 2, 3 -> limit.capacity();
            case 4, 5, 6 -> 1 + random.nextLong(limit.capacity());
            default -> 1;
        };
    }

    /** Moves the clock: not at all, to the time that the last decision has named or next to it, to a full hour, or by any time. */
    void advance(RateLimit limit) {
        long full = Math.max(1, limit.fullMicros());
        long edge = random.nextLong(3) - 1;
        long time = switch (random.nextInt(14)) {
            case 0, 1, 2 -> 0;
            case 3, 4, 5 -> micros(last.retryAfter()) + edge;
            case 6 -> micros(last.resetAfter()) + edge;
            case 7 -> HOUR - now() % HOUR + edge;
            case 8 -> random.nextLong(2 * DAY);
            case 9 -> random.nextLong(1 + 3 * full);
            case 10, 11 -> random.nextLong(1 + full);
            case 12 -> random.nextLong(1 + 5 * full / limit.capacity());
            default -> 1;
        };
        clock.addAndGet(Math.max(0, time));
    }

    static long micros(@Nullable Duration time) {
        return time == null ? 0 : time.toNanos() / 1_000;
    }

    /** Asks all stores, which must decide alike. */
    RateLimitDecision decide(RateLimit limit, long permits) {
        return decide(limit, permits, null);
    }

    /** @param expected the decision of the model; {@code null}: the stores must decide alike */
    RateLimitDecision decide(RateLimit limit, long permits, @Nullable RateLimitDecision expected) {
        Charge charge = new Charge(limit, key, permits);
        last = ask(
                "call for " + permits + " of " + limit,
                store -> store.decide(charge).await().decision(),
                expected);
        return last;
    }

    /** Makes a call with several charges. */
    List<RateLimitDecision> decide(List<Charge> charges) {
        List<RateLimitDecision> decisions = ask(
                "call for " + charges,
                store -> store.decide(StoreRequest.of(charges)).await().decisions());
        last = decisions.get(random.nextInt(decisions.size()));
        return decisions;
    }

    /** Makes a call that can be refunded. */
    List<StoreOutcome> decideRefundably(RateLimit limit, long permits) {
        List<StoreOutcome> outcomes = new ArrayList<>();
        last = ask(
                "refundable call for " + permits + " of " + limit,
                store -> {
                    StoreOutcome outcome = store.decide(
                                    StoreRequest.refundable(List.of(new Charge(limit, key, permits))))
                            .await();
                    outcomes.add(outcome);
                    return outcome.decision();
                },
                null);
        return outcomes;
    }

    void refund(List<StoreOutcome> outcomes, long permits) {
        ask(
                "refund of " + permits,
                new Function<>() {
                    private int next;

                    @Override
                    public String apply(RateLimitStore store) {
                        StoreOutcome outcome = outcomes.get(next++);
                        outcome.refund()
                                .refund(Map.of(outcome.charges().get(0), permits))
                                .toCompletableFuture()
                                .join();
                        return "done";
                    }
                },
                null);
    }

    /** Asks what would be decided about one permit. */
    RateLimitDecision peek(RateLimit limit) {
        return ask(
                "peek at " + limit,
                store -> store.decide(StoreRequest.peek(new Charge(limit, key, 1)))
                        .await()
                        .decision());
    }

    /** Asks all stores anything, which they must answer alike. */
    <T> T ask(String question, Function<RateLimitStore, T> asked) {
        return ask(question, asked, null);
    }

    private <T> T ask(String question, Function<RateLimitStore, T> asked, @Nullable T expected) {
        Map<String, Object> answers = new LinkedHashMap<>();
        T first = null;
        boolean same = true;
        for (StoreUnderTest store : stores) {
            Object answer;
            try {
                T decided = asked.apply(store.store());
                answer = decided;
                first = first == null ? decided : first;
                same = same && decided.equals(expected == null ? first : expected);
            } catch (RuntimeException ex) {
                answer = describe(ex);
                same = false;
            }
            answers.put(store.name(), answer);
        }
        String step = (now() - start) + " µs: " + question;
        if (!same) {
            throw failure("The answers differ:", step, expected, answers);
        }
        steps.add(step + " -> " + describe(first));
        if (first == null) {
            throw new IllegalStateException("There is no store");
        }
        return first;
    }

    /** Fails the test with what was expected and what was decided. */
    void check(boolean holds, String expected) {
        if (!holds) {
            throw failure(expected, null, null, Map.of());
        }
    }

    private AssertionError failure(
            String problem, @Nullable String step, @Nullable Object expected, Map<String, Object> answers) {
        StringBuilder message = new StringBuilder(problem);
        if (step != null) {
            message.append("\nstep ").append(steps.size() + 1).append(", at ").append(step);
        }
        if (expected != null) {
            message.append("\n  ").append(padded("model")).append(describe(expected));
        }
        answers.forEach(
                (store, answer) -> message.append("\n  ").append(padded(store)).append(describe(answer)));
        message.append("\nafter ")
                .append(steps.size())
                .append(" steps, from ")
                .append(start)
                .append(" µs of the epoch on:");
        for (int i = 0; i < steps.size(); i++) {
            message.append("\n  ").append(i + 1).append(". at ").append(steps.get(i));
        }
        return new AssertionError(
                message.append("\nRepeat it with ").append(seed).toString());
    }

    private static String padded(String name) {
        return String.format("%-20s", name + ":");
    }

    private static String describe(@Nullable Object answer) {
        if (!(answer instanceof RateLimitDecision decision)) {
            return String.valueOf(answer);
        }
        String retry = decision.retryAfter() == null ? "never" : "in " + micros(decision.retryAfter()) + " µs";
        return (decision.allowed() ? "allowed" : "rejected, again " + retry) + ", " + decision.remaining()
                + " left, full in " + micros(decision.resetAfter()) + " µs";
    }

    private static String describe(RuntimeException thrown) {
        StringBuilder text = new StringBuilder("fails: ").append(thrown);
        for (Throwable cause = thrown.getCause(); cause != null; cause = cause.getCause()) {
            text.append(", because of ").append(cause);
        }
        return text.toString();
    }
}
