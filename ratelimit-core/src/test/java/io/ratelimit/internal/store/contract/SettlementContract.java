package io.ratelimit.internal.store.contract;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.Algorithm;
import io.ratelimit.Rate;
import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitDecision;
import io.ratelimit.internal.limiter.Settlement;
import io.ratelimit.internal.memory.InMemoryRateLimitStore;
import io.ratelimit.spi.BucketChange;
import io.ratelimit.spi.Charge;
import io.ratelimit.spi.RateLimitStore;
import io.ratelimit.spi.StoreOutcome;
import io.ratelimit.spi.StoreRequest;
import io.ratelimit.testing.BothTiers;
import io.ratelimit.testing.LimitKind;
import io.ratelimit.testing.TestClock;
import io.ratelimit.testing.TestLimits;
import io.ratelimit.testing.TestRandom;
import io.ratelimit.testing.reference.ReferenceStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.function.UnaryOperator;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * After estimates that are settled at other costs, at once or late, twice or never, and charges beyond the capacity, a store
 * decides as the same rules do in rational arithmetic.
 */
@BothTiers
public abstract class SettlementContract extends StoreContract {

    private static final int HISTORIES = TestRandom.cases(600);

    /** Few enough that no history has more gaps than a bucket remembers. */
    private static final int STEPS = 28;

    private final Random random = TestRandom.create(getClass());

    private ReferenceStore reference;

    private final List<Call> open = new ArrayList<>();

    private final List<String> log = new ArrayList<>();

    @ParameterizedTest
    @EnumSource
    void costsKnownAfterwardsCountExactly(LimitKind kind) {
        for (int number = 0; number < HISTORIES; number++) {
            RateLimit limit = randomLimit(kind, "debts" + kind + number);
            clock.set(random.nextBoolean() ? TestClock.TODAY : random.nextLong(TestClock.TODAY));
            reference = new ReferenceStore(clock);
            open.clear();
            log.clear();
            log.add(limit.toString());
            for (int step = 0; step < STEPS; step++) {
                step(limit);
                assertAlike(limit);
                advance(limit);
            }
        }
    }

    private RateLimit randomLimit(LimitKind kind, String name) {
        long capacity = 1 + random.nextLong(random.nextInt(4) == 0 ? 3_000 : 12);
        long permits = kind == LimitKind.TOKEN_BUCKET_BY_INTERVALS ? 1 + random.nextLong(2 * capacity) : capacity;
        RateLimit limit = kind.limit(name, capacity, permits + "/" + (1 + random.nextInt(7)) + "s");
        return random.nextInt(5) == 0 ? TestLimits.dryRun(limit) : limit;
    }

    private void step(RateLimit limit) {
        switch (random.nextInt(8)) {
            case 0, 1, 2, 3 -> call(limit);
            case 4 -> charge(new Charge(limit, KEY, cost(limit)));
            case 5 -> settle(false);
            case 6 -> settle(true);
            default -> call(limit);
        }
    }

    private void call(RateLimit limit) {
        Charge charge = new Charge(limit, KEY, random.nextInt(8) == 0 ? 0 : 1 + random.nextLong(limit.capacity()));
        StoreOutcome outcome = decide(store, charge);
        StoreOutcome expected = decide(reference, charge);
        log.add(clock.micros() + " call " + charge.permits() + " " + outcome.decision());
        assertThat(outcome.decision()).as(() -> String.join("\n", log)).isEqualTo(expected.decision());
        open.add(new Call(charge, settlement(outcome, store), settlement(expected, reference)));
    }

    private static StoreOutcome decide(RateLimitStore store, Charge charge) {
        return store.decide(StoreRequest.refundable(List.of(charge)))
                .toStage()
                .toCompletableFuture()
                .join();
    }

    private static Settlement settlement(StoreOutcome outcome, RateLimitStore store) {
        return Settlement.of(outcome.charges(), outcome, store::charge, UnaryOperator.identity(), null);
    }

    private void charge(Charge charge) {
        log.add(clock.micros() + " charge " + charge.permits());
        store.charge(charge).toCompletableFuture().join();
        reference.charge(charge).toCompletableFuture().join();
    }

    /** @param twice the second time must change nothing */
    private void settle(boolean twice) {
        if (!open.isEmpty()) {
            int number = Math.max(0, open.size() - 1 - random.nextInt(4));
            Call call = open.remove(number);
            long cost = cost(call.charge.limit());
            log.add(clock.micros() + " settle " + call.charge.permits() + " at " + cost);
            call.settlement
                    .settle(Map.of(call.charge, cost))
                    .toCompletableFuture()
                    .join();
            call.expected
                    .settle(Map.of(call.charge, cost))
                    .toCompletableFuture()
                    .join();
            if (twice) {
                call.settlement
                        .settle(Map.of(call.charge, cost(call.charge.limit())))
                        .toCompletableFuture()
                        .join();
                call.settlement
                        .refund(List.of(call.charge))
                        .toCompletableFuture()
                        .join();
            }
        }
    }

    private long cost(RateLimit limit) {
        return switch (random.nextInt(6)) {
            case 0 -> 0;
            case 1 -> limit.capacity();
            case 2 -> random.nextLong(5 * limit.capacity());
            default -> random.nextLong(limit.capacity() + 1);
        };
    }

    private void advance(RateLimit limit) {
        RateLimitDecision decision = store.decide(
                        StoreRequest.peek(new Charge(limit, KEY, 1 + random.nextLong(limit.capacity()))))
                .await()
                .decision();
        long retry = TestClock.inMicros(decision.retryAfter());
        long reset = TestClock.inMicros(decision.resetAfter());
        clock.advance(Math.max(
                0,
                switch (random.nextInt(12)) {
                    case 0, 1, 2 -> 0;
                    case 3 -> 1;
                    case 4 -> retry;
                    case 5 -> retry - 1;
                    case 6 -> reset - 1;
                    case 7 -> reset;
                    case 8 -> limit.fullMicros() - clock.micros() % limit.fullMicros() - random.nextInt(2);
                    case 9 -> random.nextLong(2 * limit.fullMicros());
                    default -> random.nextLong(limit.fullMicros() / 4 + 1);
                }));
    }

    private void assertAlike(RateLimit limit) {
        List<Charge> charges = LongStream.of(0, 1, limit.capacity())
                .mapToObj(permits -> new Charge(limit, KEY, permits))
                .toList();
        // Under way at the same time, so that a store can answer them together.
        List<CompletableFuture<RateLimitDecision>> peeked = charges.stream()
                .map(charge -> store.decide(StoreRequest.peek(charge))
                        .toStage()
                        .thenApply(StoreOutcome::decision)
                        .toCompletableFuture())
                .toList();
        assertThat(peeked.stream().map(CompletableFuture::join))
                .as(() -> String.join("\n", log) + "\n" + clock.micros() + " peek 0, 1 and " + limit.capacity())
                .containsExactlyElementsOf(charges.stream()
                        .map(charge ->
                                reference.decide(StoreRequest.peek(charge)).decision())
                        .toList());
    }

    private void force(RateLimit limit, long permits) {
        store.charge(new Charge(limit, KEY, permits)).toCompletableFuture().join();
    }

    @ParameterizedTest
    @EnumSource
    void debtEndsWhereTimesWouldNotBeExact(LimitKind kind) {
        InMemoryRateLimitStore other = new InMemoryRateLimitStore(clock, 10);
        for (String rate : List.of("1/d", "7/3h", "10000000/s", "1/P365D")) {
            RateLimit limit =
                    kind.limit("huge" + rate.length(), Rate.parse(rate).permits() > 10_000 ? 10_000 : 7, rate);
            for (int i = 0; i < 3; i++) {
                force(limit, RateLimit.MAX_CAPACITY);
                other.charge(new Charge(limit, KEY, RateLimit.MAX_CAPACITY))
                        .toCompletableFuture()
                        .join();
                assertThat(peek(limit, 1))
                        .as(limit.toString())
                        .isEqualTo(other.decide(StoreRequest.peek(new Charge(limit, KEY, 1)))
                                .await()
                                .decision());
                clock.advance(HOUR);
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void everyRuleOfABucketIsInDebtForItself(LimitKind kind) {
        RateLimit one = kind.limit("changing", 6, "3/6s");
        RateLimit other = LimitKind.TOKEN_BUCKET.limit("changing", 60, "60/m");
        take(other, 1);
        take(one, 1);
        force(one, 70);
        assertThat(take(other, 1).allowed()).isFalse();
        assertThat(peek(other, 1).retryAfter()).isEqualTo(Duration.ofSeconds(13));
        assertThat(take(one, 1).allowed()).isFalse();
        clock.advance(13 * SECOND);
        assertThat(take(other, 1).allowed()).isTrue();
    }

    /** By every way to a decision: alone, with a receipt, and by a look. */
    @ParameterizedTest
    @EnumSource
    void callIsToldOfTheWholeDebt(LimitKind kind) {
        RateLimit limit = kind.limit("told", 6, "3/6s");
        force(limit, 40);
        RateLimitDecision look = peek(limit, 6);
        assertThat(look.allowed()).isFalse();
        assertThat(take(limit, 6)).isEqualTo(look);
        assertThat(decide(store, new Charge(limit, KEY, 6)).decision()).isEqualTo(look);
        assertThat(take(limit, 0).resetAfter()).isEqualTo(look.resetAfter());
        assertThat(peek(limit, 6)).isEqualTo(look);
    }

    @Test
    void chargeIsNoViolationAndEndsNoBlock() {
        RateLimit limit = RateLimit.named("blocking")
                .capacity(3)
                .rate("3/s")
                .blockFor(Duration.ofMinutes(1))
                .build();
        force(limit, 4);
        clock.advance(SECOND);
        assertThat(take(limit, 1).allowed()).isTrue();
        assertThat(take(limit, 3).retryAfter()).isEqualTo(Duration.ofMinutes(1));
        force(limit, 1);
        assertThat(take(limit, 0).allowed()).isFalse();
        clock.advance(60 * SECOND);
        assertThat(take(limit, 3).allowed()).isTrue();
    }

    @Test
    void debtOfACalendarWindowEndsWithIt() {
        RateLimit limit = RateLimit.named("monthly")
                .algorithm(Algorithm.FIXED_WINDOW)
                .rate("5/day")
                .build();
        long day = 24 * HOUR;
        clock.set(TestClock.TODAY - TestClock.TODAY % day + day - SECOND);
        force(limit, 12);
        assertThat(peek(limit, 5)).isEqualTo(rejected(5, 0, Duration.ofSeconds(1), Duration.ofSeconds(1)));
        clock.advance(SECOND);
        assertThat(take(limit, 5).allowed()).isTrue();
    }

    @ParameterizedTest
    @EnumSource
    void grantAndResetRepay(LimitKind kind) {
        RateLimit limit = kind.limit("repaid", 6, "3/6s");
        clock.set(TestClock.TODAY - TestClock.TODAY % (12 * SECOND));
        force(limit, 10);
        store.change(limit, KEY, BucketChange.grant(6)).toCompletableFuture().join();
        assertThat(remaining(limit)).isEqualTo(2);
        force(limit, 10);
        assertThat(remaining(limit)).isZero();
        store.change(limit, KEY, BucketChange.RESET).toCompletableFuture().join();
        assertThat(remaining(limit)).isEqualTo(6);
    }

    /** One call, in the store and in the reference. */
    private record Call(Charge charge, Settlement settlement, Settlement expected) {}
}
