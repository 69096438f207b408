package io.ratelimit.store.scope;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.Charge;
import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitDecision;
import io.ratelimit.Scope;
import io.ratelimit.memory.InMemoryRateLimitStore;
import io.ratelimit.store.RateLimitStore;
import io.ratelimit.store.StoreOutcome;
import io.ratelimit.store.StoreRequest;
import io.ratelimit.store.failover.FailoverRateLimitStore;
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

/** Calls with limits of both scopes, at random, are decided and refunded as by one store that has all limits. */
@Timeout(60)
class MixedScopesRandomTests {

    private static final int CASES = TestRandom.cases(10_000);

    private static final int STEPS = 50;

    private static final int LIMITS = 4;

    private final Random random = TestRandom.create(getClass());

    private final TestClock clock = new TestClock();

    private RateLimitStore whole = store();

    private RateLimitStore scoped = scopedStore();

    /** Outcomes of both stores that can be refunded. */
    private record Refundable(StoreOutcome ofWhole, StoreOutcome ofScoped) {}

    @Test
    void twoStoresDecideAsOne() throws Exception {
        for (int i = 0; i < CASES; i++) {
            whole = store();
            scoped = scopedStore();
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
        StoreOutcome expected = whole.decide(request);
        StoreOutcome actual = random.nextBoolean()
                ? scoped.decide(request)
                : scoped.decideAsync(request).toCompletableFuture().get(1, TimeUnit.SECONDS);
        assertThat(actual.decisions()).as("%s", request).isEqualTo(expected.decisions());
        for (Charge charge : charges) {
            assertThat(scoped.peek(charge)).as("after %s", request).isEqualTo(whole.peek(charge));
        }
        if (asks && !expected.isRejected()) {
            refundable.add(new Refundable(expected, actual));
        }
    }

    private void refund(Refundable outcomes) throws Exception {
        List<Charge> charges = new ArrayList<>(outcomes.ofWhole().charges());
        charges.remove(random.nextInt(charges.size()));
        for (StoreOutcome outcome : List.of(outcomes.ofWhole(), outcomes.ofScoped())) {
            outcome.refund().refund(charges).toCompletableFuture().get(1, TimeUnit.SECONDS);
        }
        for (Charge charge : charges) {
            RateLimitDecision expected = whole.peek(charge);
            assertThat(scoped.peek(charge)).as("after a refund of %s", charges).isEqualTo(expected);
        }
    }

    private RateLimit limit(int number) {
        LimitKind kind = oneOf(List.of(LimitKind.values()));
        return RateLimit.named("limit-" + number)
                .algorithm(kind.algorithm())
                .refill(kind.refill())
                .capacity(1 + random.nextInt(6))
                .rate(oneOf(List.of("10/s", "4/s", "1/s")))
                .maxWait(kind.waits() ? Duration.ofMillis(300) : Duration.ZERO)
                .scope(oneOf(List.of(Scope.values())))
                .dryRun(random.nextInt(4) == 0)
                .build();
    }

    private <T> T oneOf(List<T> choices) {
        return choices.get(random.nextInt(choices.size()));
    }

    private RateLimitStore scopedStore() {
        RateLimitStore instance = store();
        return new ScopedRateLimitStore(new FailoverRateLimitStore(store(), instance), instance);
    }

    private RateLimitStore store() {
        return new InMemoryRateLimitStore(clock, 1_000);
    }
}
