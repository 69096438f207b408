package io.ratelimit.test.contract;

import io.ratelimit.Rate;
import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitAlgorithm;
import io.ratelimit.RateLimitAlgorithm.Rule;
import io.ratelimit.RateLimitDecision;
import io.ratelimit.internal.memory.InMemoryRateLimitStore;
import io.ratelimit.spi.StoreOutcome;
import io.ratelimit.spi.TimeSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Tests a {@link RateLimitAlgorithm} of an application. Extend it by a test class that provides the algorithm and a model of it,
 * which is written from the definition, without a look at the algorithm.
 *
 * <p>Random histories of calls are decided by the model, by the functions in Java, and, if there is a Redis, by the Lua part in a
 * script and in a Redis function. All decisions must be equal to the microsecond. The clock is the test's: no test waits.
 *
 * <p>Each test prints its seed. {@code -Dratelimit.test.seed=…} repeats it, {@code random} draws a new one.
 * {@code -Dratelimit.test.histories=…} is the number of histories for each pair of {@link #numbers}, 5 by default.
 */
public abstract class RateLimitAlgorithmContract {

    private static final int STEPS = 40;

    /** The number of recorded calls of functions in Java that are repeated in Lua. */
    private static final int FUNCTION_CALLS = 1_000;

    private final Histories histories = new Histories(getClass());

    private final List<StoreUnderTest> stores = new ArrayList<>();

    /** Not before the fields of subclasses have values. */
    private @Nullable RecordingAlgorithm recorded;

    private @Nullable LuaOnRedis lua;

    /** Returns the algorithm under test. */
    protected abstract RateLimitAlgorithm algorithm();

    /**
     * Returns how many permits are available: the model.
     *
     * @param rule the numbers of the limit
     * @param admitted all calls that were admitted before, the oldest first
     * @param now microseconds of the epoch, at the earliest the time of the last call
     * @return from 0 to the capacity; never fewer at a later time, if no call comes between
     */
    protected abstract long available(Rule rule, List<AdmittedCall> admitted, long now);

    /**
     * Returns the microseconds until the admitted calls no longer matter. By default, that is when all permits are available.
     * Override it if calls matter for longer.
     */
    protected long resetAfter(Rule rule, List<AdmittedCall> admitted, long now) {
        return Model.firstTime(time -> available(rule, admitted, now + time) == rule.capacity());
    }

    /**
     * Returns whether a call can start a period, at whose end permits come back. Then an earlier call can lead to more permits later,
     * and while instances disagree about the numbers of a limit, callers can get more than by the larger ones alone.
     */
    protected boolean startsPeriods() {
        return false;
    }

    /** Returns the numbers of limits to try. */
    protected List<Numbers> numbers() {
        return List.of(
                new Numbers(1, "1/s"),
                new Numbers(5, "10/s"),
                new Numbers(20, "3/7s"),
                new Numbers(60, "1000/h"),
                new Numbers(500, "7/ms"));
    }

    /**
     * Returns the address of a Redis for the Lua part, such as {@code redis://localhost:6379}. Without one, the functions in Java
     * alone are tested, and the tests of the Lua part are reported as skipped.
     */
    protected @Nullable String redisUrl() {
        return null;
    }

    /**
     * The numbers of a limit.
     *
     * @param rate as in the configuration, such as {@code 10/s}
     */
    public record Numbers(long capacity, String rate) {}

    @BeforeEach
    final void createStores() {
        TimeSource time = histories::now;
        recorded = new RecordingAlgorithm(algorithm());
        stores.add(new StoreUnderTest("Java", new InMemoryRateLimitStore(time, 1_000_000), () -> -1));
        String url = redisUrl();
        if (url != null) {
            lua = new LuaOnRedis(url, recorded, time);
            stores.addAll(lua.stores());
        }
    }

    @AfterEach
    final void closeStores() {
        if (lua != null) {
            lua.close();
        }
    }

    /** Compares every decision, with its times, with the model. */
    @Test
    void decisionsEqualThoseOfTheModel() {
        forEachHistory((numbers, random, history) -> {
            RateLimit limit = limit(numbers);
            Model model = new Model(this);
            for (int i = 0; i < STEPS; i++) {
                long permits = history.drawPermits(limit);
                history.decide(limit, permits, model.decide(limit, permits, history.now()));
                history.advance(limit);
            }
        });
    }

    /** A rejected call succeeds after its retryAfter, not a microsecond earlier, and has taken nothing meanwhile. */
    @Test
    void rejectedCallTakesNothingAndSucceedsAfterRetryAfter() {
        forEachHistory((numbers, random, history) -> {
            RateLimit limit = limit(numbers);
            for (int i = 0; i < STEPS / 2; i++) {
                RateLimitDecision before = history.peek(limit);
                long permits = history.drawPermits(limit);
                RateLimitDecision decision = history.decide(limit, permits);
                if (!decision.allowed()) {
                    history.check(history.peek(limit).equals(before), "The rejected call must take nothing");
                    history.check(
                            (decision.retryAfter() == null) == (permits > numbers.capacity()),
                            "Only a call for more than the capacity can never succeed");
                }
                if (!decision.allowed() && decision.retryAfter() != null) {
                    history.setClock(history.now() + History.micros(decision.retryAfter()) - 1);
                    history.check(
                            !history.decide(limit, permits).allowed(), "The call must be rejected until retryAfter");
                    history.setClock(history.now() + 1);
                    history.check(history.decide(limit, permits).allowed(), "The call must succeed after retryAfter");
                }
                history.advance(limit);
            }
        });
    }

    @Test
    void noMoreThanTheCapacityIsTakenAtOnce() {
        forEachHistory((numbers, random, history) -> {
            RateLimit limit = limit(numbers);
            for (int i = 0; i < STEPS / 4; i++) {
                RateLimitDecision peek = history.peek(limit);
                boolean unused = peek.resetAfter().isZero();
                history.check(
                        !unused || peek.remaining() == numbers.capacity(), "An unused bucket must have all permits");
                long taken = 0;
                RateLimitDecision decision = peek;
                for (long permits = numbers.capacity();
                        permits > 0;
                        permits = decision.allowed() ? permits : permits / 2) {
                    decision = history.decide(limit, permits);
                    taken += decision.allowed() ? permits : 0;
                    history.check(taken <= numbers.capacity(), "No more than the capacity must be taken at once");
                }
                history.check(
                        taken == peek.remaining(), "Calls must get " + peek.remaining() + " permits, not " + taken);
                history.advance(limit);
            }
        });
    }

    /** What a call took is refunded at most once, and permits that are back already are not refunded. */
    @Test
    void refundReturnsNoMoreThanWasTaken() {
        forEachHistory((numbers, random, history) -> {
            RateLimit limit = limit(numbers);
            for (int i = 0; i < STEPS / 2; i++) {
                RateLimitDecision before = history.peek(limit);
                long permits = 1 + random.nextLong(numbers.capacity());
                List<StoreOutcome> outcomes = history.decideRefundably(limit, permits);
                boolean atOnce = random.nextBoolean();
                if (!atOnce) {
                    history.advance(limit);
                }
                long part = random.nextBoolean() ? permits : 1 + random.nextLong(permits);
                boolean allowed = outcomes.get(0).decision().allowed();
                long remaining = history.peek(limit).remaining();
                history.refund(outcomes, part);
                RateLimitDecision after = history.peek(limit);
                long refunded = after.remaining() - remaining;
                history.check(refunded >= 0, "A refund must not take permits");
                history.check(refunded <= (allowed ? part : 0), "A refund must not return more than was taken");
                history.check(
                        !atOnce || !allowed || part < permits || after.equals(before),
                        "A refund at once must leave the bucket as it was before the call");
                history.advance(limit);
            }
        });
    }

    /** If the clock is set back, nothing refills again, and no caller waits for the clock. */
    @Test
    void clockThatIsSetBackRefillsNothing() {
        keepKeys();
        forEachHistory((numbers, random, history) -> {
            RateLimit limit = limit(numbers);
            for (int i = 0; i < STEPS; i++) {
                RateLimitDecision decision = history.decide(limit, history.drawPermits(limit));
                history.check(
                        History.micros(decision.retryAfter()) <= 2 * limit.fullMicros(),
                        "No caller must wait for longer than twice capacity / rate");
                if (random.nextInt(4) > 0) {
                    history.advance(limit);
                } else {
                    long remaining = history.peek(limit).remaining();
                    history.setClock(history.now() - random.nextLong(1 + 2 * limit.fullMicros()));
                    history.check(
                            history.peek(limit).remaining() <= remaining,
                            "A clock that is set back must refill nothing");
                }
            }
        });
    }

    /** While instances disagree about the numbers, callers get no more than by the larger ones alone; with periods, not twice as much. */
    @Test
    void changedNumbersAdmitNoMoreThanTheLarger() {
        keepKeys();
        forEachHistory((numbers, random, history) -> {
            RateLimit larger = limit(numbers);
            Rate slower =
                    new Rate(larger.rate().permits(), larger.rate().period().multipliedBy(1 + random.nextInt(3)));
            RateLimit smaller = limit(new Numbers(1 + random.nextLong(numbers.capacity()), slower.toString()));
            Model model = new Model(this);
            long most = 0;
            long admitted = 0;
            for (int i = 0; i < STEPS; i++) {
                long available = model.available(Model.rule(larger), history.now());
                RateLimit limit = random.nextBoolean() ? larger : smaller;
                long permits = history.drawPermits(limit);
                boolean allowed = history.decide(limit, permits).allowed();
                if (startsPeriods()) {
                    model.add(available, history.now());
                    most += 2 * available;
                    admitted += allowed ? permits : 0;
                    history.check(admitted <= most, "No more than " + most + " permits must be taken by now");
                } else if (allowed) {
                    history.check(
                            permits <= available,
                            "The larger numbers alone admit " + available + " permits at this time");
                    model.add(permits, history.now());
                }
                history.advance(limit);
            }
        });
    }

    /** Every function in Lua returns the same as the one in Java, for all states of random histories. */
    @Test
    void luaFunctionsEqualThoseInJava() {
        LuaOnRedis redis = requireRedis();
        forEachHistory(stores.subList(0, 1), (numbers, random, history) -> {
            RateLimit limit = limit(numbers);
            for (int i = 0; i < STEPS; i++) {
                List<StoreOutcome> outcomes = history.decideRefundably(limit, history.drawPermits(limit));
                history.advance(limit);
                if (random.nextInt(3) == 0) {
                    history.refund(outcomes, outcomes.get(0).charges().get(0).permits());
                }
            }
        });
        List<Map.Entry<RecordingAlgorithm.Call, List<Long>>> calls =
                new ArrayList<>(recorded().results().entrySet());
        int step = Math.max(1, calls.size() / FUNCTION_CALLS);
        for (int i = 0; i < calls.size(); i += step) {
            RecordingAlgorithm.Call call = calls.get(i).getKey();
            List<Long> inLua = redis.call(call.function(), call.arguments());
            List<Long> inJava = calls.get(i).getValue();
            if (!inLua.equals(inJava) && !(isUnused(inLua) && isUnused(inJava))) {
                throw new AssertionError(call + " returns " + inJava + " in Java and " + inLua + " in Lua");
            }
        }
    }

    /** An unused state is forgotten, so the rest of it does not matter. */
    private static boolean isUnused(List<Long> state) {
        return state.size() > 1 && state.get(0) == 0;
    }

    /** A key expires when nothing of its bucket matters any more: not before, because calls would be forgotten, and soon after. */
    @Test
    void keysExpireWhenTheBucketIsFull() {
        requireRedis();
        forEachHistory((numbers, random, history) -> {
            RateLimit limit = limit(numbers);
            for (int i = 0; i < STEPS; i++) {
                long permits = history.drawPermits(limit);
                RateLimitDecision decision = history.decide(limit, permits);
                long reset = History.micros(decision.resetAfter());
                for (StoreUnderTest store : stores) {
                    long expiry = 1_000 * store.expiryMillis().getAsLong();
                    history.check(
                            expiry < 0 || (expiry >= reset && expiry < reset + 1_000),
                            store.name() + ": the key must expire after " + reset + " µs (was " + expiry + " µs)");
                }
                history.check(
                        reset <= 2 * limit.fullMicros(),
                        "A bucket must be full after twice capacity / rate, which is " + 2 * limit.fullMicros()
                                + " µs");
                history.advance(limit);
            }
        });
    }

    private void keepKeys() {
        if (lua != null) {
            lua.keepKeys();
        }
    }

    private LuaOnRedis requireRedis() {
        if (lua == null) {
            String message = getClass().getSimpleName() + ": the Lua part of '"
                    + algorithm().name() + "' is NOT tested, because redisUrl() names no Redis";
            System.out.println(message);
            throw Assumptions.<RuntimeException>abort(message);
        }
        return lua;
    }

    private RecordingAlgorithm recorded() {
        return Objects.requireNonNull(recorded);
    }

    private RateLimit limit(Numbers numbers) {
        return RateLimit.named("contract")
                .algorithm(recorded())
                .capacity(numbers.capacity())
                .rate(numbers.rate())
                .build();
    }

    private void forEachHistory(Histories.Play<Numbers> play) {
        forEachHistory(stores, play);
    }

    private void forEachHistory(List<StoreUnderTest> asked, Histories.Play<Numbers> play) {
        histories.play(numbers(), asked, play);
    }
}
