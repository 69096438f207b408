package io.ratelimit.internal.store.scope;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitBuilder;
import io.ratelimit.RateLimitDecision;
import io.ratelimit.internal.memory.InMemoryRateLimitStore;
import io.ratelimit.spi.Charge;
import io.ratelimit.spi.RateLimitStore;
import io.ratelimit.spi.StoreOutcome;
import io.ratelimit.spi.StoreRequest;
import io.ratelimit.testing.BothTiers;
import io.ratelimit.testing.LimitKind;
import io.ratelimit.testing.TestClock;
import io.ratelimit.testing.TestRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A store that divides limits among several stores decides and refunds random calls as one store does that has all limits. */
@BothTiers
@Timeout(180)
abstract class DividedStoreContract {

    private static final int CASES = TestRandom.cases(10_000);

    private static final int STEPS = 50;

    private static final int LIMITS = 4;

    private final Random random = TestRandom.create(getClass());

    private final TestClock clock = new TestClock();

    private RateLimitStore whole = store();

    private RateLimitStore divided = store();

    /** Outcomes of both stores that can be refunded. */
    private record Refundable(StoreOutcome ofWhole, StoreOutcome ofDivided) {}

    /** Has no buckets yet. */
    abstract RateLimitStore dividedStore();

    /** Chooses the store that decides a limit. */
    abstract void assign(RateLimitBuilder limit);

    /** @param mayBeRefunded whether the store may have charged it, and refunded it because of a rejection by another one */
    void assertDecision(
            StoreRequest request, RateLimitDecision actual, RateLimitDecision expected, boolean mayBeRefunded) {
        assertThat(actual).as("%s", request).isEqualTo(expected);
    }

    @Test
    void severalStoresDecideAsOne() throws Exception {
        for (int i = 0; i < CASES; i++) {
            whole = store();
            divided = dividedStore();
            List<RateLimit> limits =
                    IntStream.range(0, LIMITS).mapToObj(this::limit).toList();
            List<Refundable> refundable = new ArrayList<>();
            for (int step = 0; step < STEPS; step++) {
                if (random.nextInt(5) == 0 && !refundable.isEmpty()) {
                    refund(refundable.remove(random.nextInt(refundable.size())));
                } else {
                    call(limits, refundable);
                }
                clock.advance(random.nextInt(3) * random.nextLong(400_000));
            }
        }
    }

    private void call(List<RateLimit> limits, List<Refundable> refundable) throws Exception {
        List<RateLimit> some = new ArrayList<>(limits);
        Collections.shuffle(some, random);
        List<Charge> charges = some.subList(0, 1 + random.nextInt(LIMITS)).stream()
                .map(limit -> new Charge(limit, "user-" + random.nextInt(2), random.nextInt(4)))
                .toList();
        boolean asks = random.nextBoolean();
        StoreRequest request = StoreRequest.of(charges, asks);
        StoreOutcome expected = whole.decide(request).await();
        StoreOutcome actual = random.nextBoolean()
                ? divided.decide(request).await()
                : divided.decide(request).toStage().toCompletableFuture().get(60, TimeUnit.SECONDS);
        assertThat(actual.decisions()).hasSameSizeAs(charges);
        for (int i = 0; i < charges.size(); i++) {
            assertDecision(
                    request,
                    actual.decisions().get(i),
                    expected.decisions().get(i),
                    expected.isRejected() && !expected.isCharged(i));
        }
        for (Charge charge : charges) {
            assertThat(divided.decide(StoreRequest.peek(charge)).await().decision())
                    .as("after %s", request)
                    .isEqualTo(whole.decide(StoreRequest.peek(charge)).await().decision());
        }
        if (asks && !expected.isRejected()) {
            refundable.add(new Refundable(expected, actual));
        }
    }

    private void refund(Refundable outcomes) throws Exception {
        List<Charge> charges = new ArrayList<>(outcomes.ofWhole().charges());
        charges.remove(random.nextInt(charges.size()));
        for (StoreOutcome outcome : List.of(outcomes.ofWhole(), outcomes.ofDivided())) {
            outcome.refund().refund(charges).toCompletableFuture().get(60, TimeUnit.SECONDS);
        }
        for (Charge charge : charges) {
            assertThat(divided.decide(StoreRequest.peek(charge)).await().decision())
                    .as("after a refund of %s", charges)
                    .isEqualTo(whole.decide(StoreRequest.peek(charge)).await().decision());
        }
    }

    private RateLimit limit(int number) {
        LimitKind kind = oneOf(LimitKind.values());
        RateLimitBuilder limit = RateLimit.named("limit-" + number)
                .algorithm(kind.algorithm())
                .refill(kind.refill())
                .capacity(1 + random.nextInt(6))
                .rate(oneOf("10/s", "4/s", "1/s"))
                .maxWait(kind.waits() ? Duration.ofMillis(300) : Duration.ZERO)
                .dryRun(random.nextInt(4) == 0);
        assign(limit);
        return limit.build();
    }

    @SafeVarargs
    final <T> T oneOf(T... choices) {
        return choices[random.nextInt(choices.length)];
    }

    final RateLimitStore store() {
        return new InMemoryRateLimitStore(clock, 1_000);
    }
}
