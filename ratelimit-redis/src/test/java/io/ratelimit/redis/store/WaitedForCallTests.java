package io.ratelimit.redis.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.redis.HeldScripts;
import io.ratelimit.redis.batch.PendingCall;
import io.ratelimit.redis.permit.PermitRegistry;
import io.ratelimit.redis.script.BucketNaming;
import io.ratelimit.spi.Charge;
import io.ratelimit.spi.RateLimitStore;
import io.ratelimit.spi.StoreOutcome;
import io.ratelimit.spi.StoreRequest;
import io.ratelimit.testing.TestLimits;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The dispatcher of calls knows which of them a thread waits for. */
class WaitedForCallTests {

    private static final Charge CHARGE = new Charge(TestLimits.tokenBucket("quotes", 10, "10/s"), "alice", 1);

    private final List<Boolean> waitedFor = new ArrayList<>();

    private final RateLimitStore store = new RedisRateLimitStore(
            TestStores.guarded(new HeldScripts(), Duration.ofHours(1), "test"),
            new BucketNaming("test"),
            (redis, language) -> this::note,
            PermitRegistry::new);

    private void note(PendingCall<?> call) {
        waitedFor.add(call.isWaitedFor());
        call.answer(Collections.nCopies(20, 0L), 0);
    }

    @Test
    void threadWaitsForWhatBlocks() {
        store.decide(CHARGE).await();
        store.decide(StoreRequest.of(List.of(CHARGE))).await();
        assertThat(waitedFor).containsExactly(true, true);
    }

    @Test
    void noThreadWaitsForAStage() {
        assertThat(store.decide(StoreRequest.of(List.of(CHARGE))).toStage().thenApply(StoreOutcome::decisions))
                .isCompleted();
        assertThat(store.decide(StoreRequest.refundable(List.of(CHARGE))).toStage())
                .isCompleted();
        assertThat(store.decide(StoreRequest.lease(CHARGE, 5)).toStage()).isCompleted();
        assertThat(store.decide(StoreRequest.peek(CHARGE)).toStage().thenApply(StoreOutcome::decision))
                .isCompleted();
        assertThat(waitedFor).containsExactly(false, false, false, false);
    }
}
