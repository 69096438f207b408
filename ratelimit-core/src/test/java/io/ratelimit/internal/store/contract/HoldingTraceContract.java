package io.ratelimit.internal.store.contract;

import static io.ratelimit.testing.TestLimits.concurrency;
import static io.ratelimit.testing.TestLimits.dryRun;
import static io.ratelimit.testing.TestLimits.fixedWindow;
import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.RateLimit;
import io.ratelimit.spi.BucketChange;
import io.ratelimit.spi.Charge;
import io.ratelimit.spi.StoreOutcome;
import io.ratelimit.spi.StoreRequest;
import io.ratelimit.testing.BothTiers;
import io.ratelimit.testing.TestRandom;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Random calls, releases and resets, compared with a count of the permits that are held. */
@BothTiers
public abstract class HoldingTraceContract extends StoreContract {

    private static final int TRACES = 60;

    private static final int STEPS = 60;

    private final Random random = TestRandom.create(getClass());

    /** Permits in use, by limit and key. A rate comes back only with the hour, so it is a count, too. */
    private final Map<String, Long> used = new HashMap<>();

    private final List<Running> running = new ArrayList<>();

    /** Calls that have released their permits. */
    private final List<Running> over = new ArrayList<>();

    private record Running(StoreOutcome outcome, Map<Charge, String> taken) {}

    @Test
    void callsAreDecidedByWhatIsHeld() {
        for (int trace = 0; trace < TestRandom.cases(TRACES); trace++) {
            used.clear();
            running.clear();
            over.clear();
            String name = "trace-" + trace;
            for (int step = 0; step < STEPS; step++) {
                if (!running.isEmpty() && random.nextInt(5) < 2) {
                    end(running.remove(random.nextInt(running.size())));
                } else if (!over.isEmpty() && random.nextInt(8) == 0) {
                    release(over.get(random.nextInt(over.size())));
                } else if (random.nextInt(12) == 0) {
                    reset(charges(name).get(0));
                } else {
                    enter(charges(name));
                }
                checkHeld(name);
            }
        }
    }

    private List<Charge> charges(String name) {
        List<RateLimit> limits = new ArrayList<>(List.of(
                concurrency(name + "-a", 1 + random.nextInt(4)),
                concurrency(name + "-b", 3),
                dryRun(concurrency(name + "-c", 2)),
                fixedWindow(name + "-d", 20, "20/h")));
        Collections.shuffle(limits, random);
        List<Charge> charges = new ArrayList<>();
        for (RateLimit limit : limits.subList(0, 1 + random.nextInt(limits.size()))) {
            charges.add(new Charge(limit, random.nextBoolean() ? "alice" : "bob", random.nextInt(4)));
        }
        return charges;
    }

    private void enter(List<Charge> charges) {
        boolean rejected = charges.stream()
                .anyMatch(charge -> !fits(charge) && !charge.limit().dryRun());
        StoreOutcome outcome = store.decide(StoreRequest.refundable(charges)).await();
        Map<Charge, String> taken = new HashMap<>();
        for (int i = 0; i < charges.size(); i++) {
            Charge charge = charges.get(i);
            boolean fits = fits(charge);
            if (fits && (!rejected || charge.limit().dryRun())) {
                used.merge(bucket(charge), charge.permits(), Long::sum);
                taken.put(charge, bucket(charge));
            }
            assertThat(outcome.decisions().get(i).allowed()).as("%s", charge).isEqualTo(fits);
            assertThat(outcome.decisions().get(i).remaining())
                    .as("%s", charge)
                    .isEqualTo(Math.max(0, charge.limit().capacity() - used(charge)));
        }
        running.add(new Running(outcome, taken));
    }

    private void end(Running call) {
        release(call);
        over.add(call);
        call.taken().forEach((charge, bucket) -> {
            if (!charge.limit().hasRate()) {
                used.merge(bucket, -charge.permits(), Long::sum);
            }
        });
    }

    /** Doing so again changes nothing. */
    private static void release(Running call) {
        List<Charge> held = call.outcome().charges().stream()
                .filter(charge -> !charge.limit().hasRate())
                .toList();
        call.outcome().refund().refund(held).toCompletableFuture().join();
    }

    private void reset(Charge charge) {
        store.change(charge.limit(), charge.key(), BucketChange.RESET)
                .toCompletableFuture()
                .join();
        used.remove(bucket(charge));
        running.forEach(call -> call.taken().values().remove(bucket(charge)));
    }

    private void checkHeld(String name) {
        for (String letter : List.of("a", "b", "c")) {
            RateLimit limit = concurrency(name + "-" + letter, 1);
            assertThat(store.heldPermits(limit))
                    .as(limit.name())
                    .isEqualTo(
                            used.getOrDefault(limit.id() + " alice", 0L) + used.getOrDefault(limit.id() + " bob", 0L));
        }
    }

    private boolean fits(Charge charge) {
        return charge.permits() == 0
                || used(charge) + charge.permits() <= charge.limit().capacity();
    }

    private long used(Charge charge) {
        return used.getOrDefault(bucket(charge), 0L);
    }

    private static String bucket(Charge charge) {
        return charge.limit().id() + " " + charge.key();
    }
}
