package io.ratelimit.test.contract;

import io.ratelimit.Algorithm;
import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitDecision;
import io.ratelimit.RateLimitOverride;
import io.ratelimit.RateLimitStoreException;
import io.ratelimit.spi.BucketChange;
import io.ratelimit.spi.Charge;
import io.ratelimit.spi.RateLimitStore;
import io.ratelimit.spi.StoreRequest;
import io.ratelimit.spi.TimeSource;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;

/**
 * Tests a {@link RateLimitStore} of an application. Extend it by a test class that creates the store.
 *
 * <p>Random histories of calls are decided by the store and by the in-memory store, which is the reference. All decisions must be
 * equal to the microsecond. The clock is the test's: no test waits.
 *
 * <p>What a store does not support is not tested: limits that {@link #supports} excludes, and operations that fail with
 * {@link UnsupportedOperationException}. Their tests are reported as skipped.
 *
 * <p>Each test prints its seed. {@code -Dratelimit.test.seed=…} repeats it, {@code random} draws a new one.
 * {@code -Dratelimit.test.histories=…} is the number of histories for each limit, 5 by default.
 */
public abstract class RateLimitStoreContract extends StoreOperationContract {

    private static final int STEPS = 40;

    private static final long WEEK = 604_800_000_000L;

    /**
     * Creates the store under test. It need not be empty.
     *
     * @param time the clock that the store must use instead of its own
     */
    @Override
    protected abstract RateLimitStore store(TimeSource time);

    /**
     * Creates a store that can decide nothing, such as one whose database cannot be reached; {@code null}, the default: its failures
     * are not tested.
     */
    protected @Nullable RateLimitStore failingStore() {
        return null;
    }

    /**
     * Returns whether the store decides calls of such a limit; by default, of every limit. Calls of others must fail with an
     * {@link UnsupportedOperationException}. The contract asks for every {@link Algorithm}, refill by intervals, calendar
     * windows, {@link RateLimit#maxWait}, {@link RateLimit#blockFor} and {@link RateLimit#ownAlgorithm}.
     */
    @Override
    protected boolean supports(RateLimit limit) {
        return true;
    }

    /** Compares every decision, with its times, and what a look at the bucket says. Some calls are in dry run. */
    @Test
    void decisionsEqualThoseOfTheReference() {
        forEachHistory((limit, random, history) -> {
            RateLimit dryRun = dryRun(limit);
            for (int i = 0; i < STEPS; i++) {
                RateLimit asked = random.nextInt(8) == 0 ? dryRun : limit;
                if (random.nextInt(3) == 0) {
                    history.peek(asked);
                }
                history.decide(asked, history.drawPermits(limit));
                history.advance(limit);
            }
        });
    }

    /** Callers that must not block ask for the same. */
    @Test
    void decisionsAreTheSameWithoutBlocking() {
        forEachHistory((limit, random, history) -> {
            for (int i = 0; i < STEPS; i++) {
                Charge charge = new Charge(limit, history.key(), history.drawPermits(limit));
                history.ask(
                        "call for " + charge.permits() + " without blocking",
                        store -> await(store.decide(charge).toStage()).decision());
                history.decide(limit, history.drawPermits(limit));
                history.advance(limit);
            }
        });
    }

    /** Every limit of a call is charged, or none is. A limit in dry run rejects nothing, and is charged beside one that rejects. */
    @Test
    void severalChargesAreTakenTogether() {
        forEachHistory((limit, random, history) -> {
            for (int i = 0; i < STEPS; i++) {
                List<Charge> charges = new ArrayList<>();
                for (RateLimit one : List.of(limit, dryRun(draw(random)), draw(random), draw(random))) {
                    Charge charge = new Charge(one, history.key(), history.drawPermits(one));
                    if (random.nextInt(4) > 0 && charges.stream().noneMatch(charge::isForSameBucket)) {
                        charges.add(charge);
                    }
                }
                Collections.shuffle(charges, random);
                if (!charges.isEmpty()) {
                    history.decide(charges);
                }
                history.advance(limit);
            }
        });
    }

    /** If the capacity changes, what callers have taken stays taken. */
    @Test
    void changedCapacityKeepsWhatIsTaken() {
        List<RateLimit> limits = supported().stream()
                .filter(limit -> limit.rate().calendarUnit() == null)
                .toList();
        histories.play(limits, stores, (limit, random, history) -> {
            RateLimit larger = limit.definition()
                    .with(RateLimitOverride.builder()
                            .capacity(2 * limit.capacity())
                            .build());
            history.decide(limit, 1 + random.nextLong(limit.capacity()));
            history.peek(larger);
            history.decide(larger, limit.capacity());
        });
    }

    /** A clock that is set back refills no bucket, and no call waits for longer than {@code 2 * capacity / rate}. */
    @Test
    void clockThatIsSetBackRefillsNothing() {
        histories.play(supported(), withoutReference(), (limit, random, history) -> {
            history.decide(limit, 1 + random.nextLong(limit.capacity()));
            history.setClock(history.now() + random.nextLong(1 + limit.fullMicros()));
            history.decide(limit, history.drawPermits(limit));
            long remaining = history.peek(limit).remaining();
            history.setClock(history.now() - 1 - random.nextLong(WEEK));
            RateLimitDecision back = history.peek(limit);
            history.check(back.remaining() <= remaining, "No permits must be back when the clock is set back");
            history.check(
                    !limit.blockFor().isEmpty() || History.micros(back.resetAfter()) <= 2 * limit.fullMicros(),
                    "A bucket must be full after twice capacity / rate");
        });
    }

    /** Databases compare texts by rules of their own: case, accents, spaces at the end, a longest length. */
    @Test
    void differentKeysHaveDifferentBuckets() {
        String large = "k".repeat(1_000_000);
        for (String key : List.of(
                "a",
                "A",
                "ä",
                "a ",
                " a",
                "{a}",
                "a\r\n",
                "a\0",
                "%",
                "\ud83d\ude00",
                "\ud800",
                "\ud801",
                "?",
                large,
                large + "a")) {
            Charge charge =
                    new Charge(anyLimit(), histories.key(key), anyLimit().capacity());
            if (store().decide(charge).await().isRejected()) {
                throw new AssertionError("The key must not share its bucket with others: "
                        + key.substring(0, Math.min(key.length(), 10)));
            }
        }
    }

    /** Half of the threads name the limits in the other order, which must not lead to a deadlock. */
    @Test
    void concurrentCallsTakeNoMoreThanThereIs() {
        List<RateLimit> limits =
                supported().stream().filter(limit -> limit.capacity() == 60).toList();
        for (RateLimit limit : limits) {
            List<Charge> charges = new ArrayList<>(List.of(new Charge(limit, histories.key("one" + limit.id()), 1)));
            checkConcurrentCalls(charges);
            supported().stream()
                    .filter(other -> other.capacity() > 60)
                    .forEach(other -> charges.add(new Charge(other, histories.key("all" + limit.id()), 1)));
            charges.set(0, new Charge(limit, histories.key("all" + limit.id()), 1));
            checkConcurrentCalls(charges);
        }
    }

    @Test
    void limitsThatAreNotSupportedFail() {
        for (RateLimit limit : ContractLimits.all()) {
            if (!supports(limit)) {
                Charge charge = new Charge(limit, histories.key("unsupported"), 1);
                checkFailure(
                        "A call of a limit that is not supported, " + limit + ",",
                        UnsupportedOperationException.class,
                        () -> store().decide(charge).await());
            }
        }
    }

    @Test
    void failuresAreStoreExceptions() {
        RateLimitStore failing = failingStore();
        if (failing == null) {
            throw Assumptions.<RuntimeException>abort(
                    "Failures of the store are NOT tested, because failingStore() creates no store");
        }
        Charge charge = new Charge(anyLimit(), histories.key("secret"), 1);
        Map<String, Supplier<?>> calls = Map.of(
                "A decision", () -> failing.decide(charge).await(),
                "A decision that does not block",
                        () -> await(failing.decide(charge).toStage()),
                "A peek", () -> failing.decide(StoreRequest.peek(charge)).await(),
                "A change", () -> await(failing.change(charge.limit(), charge.key(), BucketChange.NONE)),
                "A check", () -> await(failing.check()));
        calls.forEach((name, call) -> checkFailure(name, RateLimitStoreException.class, call));
    }
}
