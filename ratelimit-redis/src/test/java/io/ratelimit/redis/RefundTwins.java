package io.ratelimit.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.spi.Charge;
import io.ratelimit.spi.RateLimitStore;
import io.ratelimit.spi.Refund;
import io.ratelimit.spi.StoreOutcome;
import io.ratelimit.spi.StoreRequest;
import io.ratelimit.testing.RandomHistory;
import java.util.List;
import java.util.Random;

/** One call, charged in two stores. Parts of it are refunded in both. */
record RefundTwins(
        List<Charge> charges, RateLimitStore one, Refund oneRefund, RateLimitStore other, Refund otherRefund) {

    static RefundTwins take(RandomHistory history, RateLimitStore one, RateLimitStore other) {
        List<Charge> charges = history.next();
        StoreOutcome ofOne = decide(one, charges);
        StoreOutcome ofOther = decide(other, charges);
        assertThat(ofOne.decisions()).as(history::toString).isEqualTo(ofOther.decisions());
        return new RefundTwins(charges, one, ofOne.refund(), other, ofOther.refund());
    }

    private static StoreOutcome decide(RateLimitStore store, List<Charge> charges) {
        return store.decide(StoreRequest.refundable(charges))
                .toStage()
                .toCompletableFuture()
                .join();
    }

    /** Any of the charges, and perhaps not for the first time. */
    void refund(RandomHistory history, Random random) {
        List<Charge> some =
                charges.stream().filter(charge -> random.nextInt(3) > 0).toList();
        history.note("refunded " + some);
        oneRefund.refund(some).toCompletableFuture().join();
        otherRefund.refund(some).toCompletableFuture().join();
        for (Charge charge : charges) {
            assertThat(one.decide(StoreRequest.peek(charge)).await().decision())
                    .as(history::toString)
                    .isEqualTo(other.decide(StoreRequest.peek(charge)).await().decision());
        }
    }
}
