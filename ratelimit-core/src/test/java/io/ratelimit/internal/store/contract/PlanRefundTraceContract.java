package io.ratelimit.internal.store.contract;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.Algorithm;
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
import java.util.Optional;
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
            play(Stream.generate(() -> limit(still(), name)).limit(3).toList(), 2);
        }
    }

    private LimitKind still() {
        List<LimitKind> kinds =
                Arrays.stream(LimitKind.values()).filter(kind -> !kind.waits()).toList();
        return kinds.get(random.nextInt(kinds.size()));
    }

    /**
     * A bucket knows three plans. It forgets what it counted for a plan that another one displaces. Without logs: one that adopts a
     * smaller log does not see what another algorithm has counted.
     */
    @Test
    void noMoreThanTheLargestCapacityIsOutAtOnceIfPlansDisplaceEachOther() {
        for (int game = 0; game < 4 * GAMES; game++) {
            String name = "displaced" + game;
            List<RateLimit> plans = Stream.generate(() -> limit(still(), name))
                    .filter(plan -> plan.algorithm() != Algorithm.SLIDING_WINDOW_LOG)
                    .limit(4 + random.nextInt(3))
                    .toList();
            long largest = plans.stream().mapToLong(RateLimit::capacity).max().orElseThrow();
            begin();
            for (int i = 0; i < CALLS; i++) {
                RateLimit plan = plans.get(random.nextInt(plans.size()));
                call(plan, permits(plan)).ifPresent(calls::add);
                assertThat(calls.stream().mapToLong(call -> call.left).sum())
                        .as(() -> String.join("\n", log))
                        .isLessThanOrEqualTo(largest);
                refundSome();
                clock.advance(random.nextInt(3));
            }
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
        begin();
        for (int i = 0; i < CALLS; i++) {
            adoptIfUnused(plans);
            RateLimit plan = plans.get(random.nextInt(plans.size()));
            callAsModelled(plan, permits(plan));
            refundSome();
            clock.advance(random.nextInt(3) == 0 ? TestRandom.logarithmic(random, 1, pause) : 0);
        }
    }

    private void begin() {
        calls.clear();
        log.clear();
        clock.set(TestClock.TODAY + random.nextLong(HOUR));
    }

    private long permits(RateLimit plan) {
        return 1 + random.nextLong(random.nextInt(3) == 0 ? plan.capacity() : Math.min(2, plan.capacity()));
    }

    private void refundSome() {
        while (random.nextInt(2) == 0 && !calls.isEmpty()) {
            refund(calls.get(Math.max(0, calls.size() - 1 - random.nextInt(8))));
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
            plans.forEach(plan -> callAsModelled(plan, 1));
            calls.forEach(call -> call.refund = Refund.NONE);
        }
    }

    private static StoreRequest peekOf(RateLimit plan, long permits) {
        return StoreRequest.peek(new Charge(plan, KEY, permits));
    }

    private void callAsModelled(RateLimit plan, long permits) {
        call(plan, permits).ifPresent(call -> {
            assertThat(model(plan)
                            .decide(peekOf(plan, permits))
                            .await()
                            .decision()
                            .allowed())
                    .as(() -> String.join("\n", log))
                    .isTrue();
            calls.add(call);
        });
    }

    private Optional<Call> call(RateLimit plan, long permits) {
        Charge charge = new Charge(plan, KEY, permits);
        StoreOutcome outcome = store.decide(StoreRequest.refundable(List.of(charge)))
                .toStage()
                .toCompletableFuture()
                .join();
        boolean allowed = outcome.decision().allowed();
        log.add(clock.micros() + ": " + permits + " of " + plan + " " + allowed);
        return allowed ? Optional.of(new Call(clock.micros(), charge, outcome.refund())) : Optional.empty();
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
