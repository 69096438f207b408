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
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Calls with limits in several servers and in memory, at random, are decided and refunded as by one store that has all limits. */
@Timeout(60)
class CrossServerRandomTests {

    private static final int CASES = TestRandom.cases(10_000);

    private static final int STEPS = 50;

    private static final int LIMITS = 4;

    private static final String[] SERVERS = {"default", "eu", "us"};

    private final Random random = TestRandom.create(getClass());

    private final TestClock clock = new TestClock();

    private RateLimitStore whole = store();

    private RateLimitStore split = splitStore();

    /** Outcomes of both stores that can be refunded. */
    private record Refundable(StoreOutcome ofWhole, StoreOutcome ofSplit) {}

    @Test
    void severalServersDecideAsOne() throws Exception {
        for (int i = 0; i < CASES; i++) {
            whole = store();
            split = splitStore();
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
                ? split.decide(request)
                : split.decideAsync(request).toCompletableFuture().get(1, TimeUnit.SECONDS);
        for (int i = 0; i < charges.size(); i++) {
            assertDecision(
                    request,
                    actual.decisions().get(i),
                    expected.decisions().get(i),
                    expected.isRejected() && !expected.isCharged(i));
        }
        for (Charge charge : charges) {
            assertThat(split.peek(charge)).as("after %s", request).isEqualTo(whole.peek(charge));
        }
        if (asks && !expected.isRejected()) {
            refundable.add(new Refundable(expected, actual));
        }
    }

    /** What was refunded tells at most when the bucket would be full with its charge. */
    private static void assertDecision(
            StoreRequest request, RateLimitDecision actual, RateLimitDecision expected, boolean mayBeRefunded) {
        if (mayBeRefunded && expected.allowed()) {
            assertThat(actual.allowed()).as("%s", request).isTrue();
            assertThat(actual.capacity()).isEqualTo(expected.capacity());
            assertThat(actual.delay()).isEqualTo(expected.delay());
            assertThat(actual.remaining()).as("%s", request).isLessThanOrEqualTo(expected.remaining());
            if (expected.delay().isZero()) {
                assertThat(actual.remaining()).as("%s", request).isEqualTo(expected.remaining());
            }
            assertThat(actual.resetAfter()).as("%s", request).isGreaterThanOrEqualTo(expected.resetAfter());
        } else {
            assertThat(actual).as("%s", request).isEqualTo(expected);
        }
    }

    private void refund(Refundable outcomes) throws Exception {
        List<Charge> charges = new ArrayList<>(outcomes.ofWhole().charges());
        charges.remove(random.nextInt(charges.size()));
        for (StoreOutcome outcome : List.of(outcomes.ofWhole(), outcomes.ofSplit())) {
            outcome.refund().refund(charges).toCompletableFuture().get(1, TimeUnit.SECONDS);
        }
        for (Charge charge : charges) {
            assertThat(split.peek(charge)).as("after a refund of %s", charges).isEqualTo(whole.peek(charge));
        }
    }

    private RateLimit limit(int number) {
        LimitKind kind = oneOf(List.of(LimitKind.values()));
        boolean own = random.nextInt(4) == 0;
        var limit = RateLimit.named("limit-" + number)
                .algorithm(kind.algorithm())
                .refill(kind.refill())
                .capacity(1 + random.nextInt(6))
                .rate(oneOf(List.of("10/s", "4/s", "1/s")))
                .maxWait(kind.waits() ? Duration.ofMillis(300) : Duration.ZERO)
                .dryRun(random.nextInt(4) == 0);
        return own
                ? limit.scope(Scope.INSTANCE).build()
                : limit.redis(SERVERS[random.nextInt(SERVERS.length)]).build();
    }

    private <T> T oneOf(List<T> choices) {
        return choices.get(random.nextInt(choices.size()));
    }

    private RateLimitStore splitStore() {
        RateLimitStore instance = store();
        return new ScopedRateLimitStore(
                new RoutingRateLimitStore(
                        new FailoverRateLimitStore(store(), instance),
                        Map.of(
                                "eu", new FailoverRateLimitStore(store(), instance),
                                "us", new FailoverRateLimitStore(store(), instance)),
                        UnaryOperator.identity()),
                instance);
    }

    private RateLimitStore store() {
        return new InMemoryRateLimitStore(clock, 1_000);
    }
}
