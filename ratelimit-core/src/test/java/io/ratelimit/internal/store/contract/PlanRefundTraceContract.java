package io.ratelimit.internal.store.contract;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.RateLimit;
import io.ratelimit.spi.Charge;
import io.ratelimit.spi.Refund;
import io.ratelimit.spi.StoreOutcome;
import io.ratelimit.spi.StoreRequest;
import io.ratelimit.testing.BothTiers;
import io.ratelimit.testing.LimitKind;
import io.ratelimit.testing.TestClock;
import io.ratelimit.testing.TestRandom;
import io.ratelimit.testing.reference.ReferenceStore;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Calls of several plans of a key are refunded in any order. Whatever a plan admits, its model admits, too: the model sees all
 * calls of all plans anew, without what was refunded of them.
 */
@BothTiers
public abstract class PlanRefundTraceContract extends StoreContract {

    private static final int GAMES = TestRandom.cases(1_000);

    private static final int CALLS = 40;

    private static final int MOST = 8;

    private final Random random = TestRandom.create(getClass());

    private final List<Call> calls = new ArrayList<>();

    private final List<String> log = new ArrayList<>();

    /** A window or a period that a refunded call began would begin at another time without it. */
    @ParameterizedTest
    @EnumSource(
            mode = EnumSource.Mode.EXCLUDE,
            names = {"FIXED_WINDOW", "TOKEN_BUCKET_BY_INTERVALS"})
    void noPlanAdmitsMoreThanWithoutTheRefundedCalls(LimitKind kind) {
        for (int game = 0; game < GAMES; game++) {
            String name = "moving" + game;
            play(Stream.generate(() -> limit(kind, name)).limit(3).toList(), 5 * SECOND);
        }
    }

    @Test
    void noPlanAdmitsMoreAtOnceThanWithoutTheRefundedCallsWhateverTheAlgorithms() {
        for (int game = 0; game < 4 * GAMES; game++) {
            String name = "still" + game;
            LimitKind[] kinds = Arrays.stream(LimitKind.values())
                    .filter(kind -> !kind.waits())
                    .toArray(LimitKind[]::new);
            play(
                    Stream.generate(() -> limit(kinds[random.nextInt(kinds.length)], name))
                            .limit(3)
                            .toList(),
                    2);
        }
    }

    private RateLimit limit(LimitKind kind, String name) {
        long capacity = 1 + random.nextLong(MOST);
        return kind.limit(name, capacity, capacity + "/" + (random.nextBoolean() ? 6 : 1 + random.nextInt(12)) + "s");
    }

    private void play(List<RateLimit> plans, long pause) {
        if (plans.stream().distinct().count() < plans.size()) {
            return;
        }
        calls.clear();
        log.clear();
        clock.set(TestClock.TODAY + random.nextLong(HOUR));
        for (int i = 0; i < CALLS; i++) {
            adoptIfUnused(plans);
            RateLimit plan = plans.get(random.nextInt(plans.size()));
            call(plan, 1 + random.nextLong(random.nextInt(3) == 0 ? plan.capacity() : Math.min(2, plan.capacity())));
            while (random.nextInt(2) == 0) {
                refund(calls.get(Math.max(0, calls.size() - 1 - random.nextInt(8))));
            }
            clock.advance(random.nextInt(3) == 0 ? TestRandom.logarithmic(random, 1, pause) : 0);
        }
    }

    /** A plan that is new to a bucket adopts what it finds. Nothing of that is refunded here. */
    private void adoptIfUnused(List<RateLimit> plans) {
        if (plans.stream()
                .allMatch(plan -> model(plan)
                        .decide(peekOf(plan, 0))
                        .await()
                        .decision()
                        .resetAfter()
                        .isZero())) {
            plans.forEach(plan -> call(plan, 1));
            calls.forEach(call -> call.refund = Refund.NONE);
        }
    }

    private static StoreRequest peekOf(RateLimit plan, long permits) {
        return StoreRequest.peek(new Charge(plan, KEY, permits));
    }

    private void call(RateLimit plan, long permits) {
        Charge charge = new Charge(plan, KEY, permits);
        StoreOutcome outcome = store.decide(StoreRequest.refundable(List.of(charge)))
                .toStage()
                .toCompletableFuture()
                .join();
        log.add(clock.micros() + ": " + permits + " of " + plan + " "
                + outcome.decision().allowed());
        if (outcome.decision().allowed()) {
            assertThat(model(plan)
                            .decide(peekOf(plan, permits))
                            .await()
                            .decision()
                            .allowed())
                    .as(() -> String.join("\n", log))
                    .isTrue();
            calls.add(new Call(clock.micros(), charge, outcome.refund()));
        }
    }

    private void refund(Call call) {
        if (call.refund != Refund.NONE) {
            long permits = random.nextInt(4) == 0 ? random.nextLong(call.charge.permits() + 1) : call.charge.permits();
            log.add(clock.micros() + ": refund of " + permits + " of the call at " + call.time + " of "
                    + call.charge.permits());
            call.refund
                    .refund(Map.of(call.charge, permits))
                    .toCompletableFuture()
                    .join();
            call.refund = Refund.NONE;
            call.left -= permits;
        }
    }

    private ReferenceStore model(RateLimit plan) {
        TestClock past = new TestClock();
        ReferenceStore model = new ReferenceStore(past);
        for (Call call : calls) {
            past.set(call.time);
            Charge charge = new Charge(plan, KEY, call.left);
            if (call.left > 0 && call.charge.limit().equals(plan)) {
                model.charge(charge);
            } else if (call.left > 0) {
                model.witness(charge);
            }
        }
        past.set(clock.micros());
        return model;
    }

    private static final class Call {

        private final long time;

        private final Charge charge;

        private Refund refund;

        private long left;

        Call(long time, Charge charge, Refund refund) {
            this.time = time;
            this.charge = charge;
            this.refund = refund;
            this.left = charge.permits();
        }
    }
}
