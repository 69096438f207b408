package io.ratelimit.test.contract;

import io.ratelimit.Algorithm;
import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitAdmin.BucketStatus;
import io.ratelimit.RateLimitDecision;
import io.ratelimit.spi.BucketChange;
import io.ratelimit.spi.Charge;
import io.ratelimit.spi.Lease;
import io.ratelimit.spi.StoreOutcome;
import io.ratelimit.spi.StoreRequest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;

/** Tests what is done to buckets besides decisions: refunds, charges of costs, changes, permits that are held or leased. */
abstract class StoreOperationContract extends StoreContractFixture {

    private static final int STEPS = 40;

    /** A call that is refunded at once leaves nothing behind, and a second refund does nothing. */
    @Test
    void refundReturnsOnceWhatWasTaken() {
        forEachHistory((limit, random, history) -> {
            for (int i = 0; i < STEPS; i++) {
                RateLimitDecision before = history.peek(limit);
                long permits = history.drawPermits(limit);
                List<StoreOutcome> outcomes = history.decideRefundably(limit, permits);
                boolean allowed = outcomes.get(0).decision().allowed();
                long refunded = random.nextBoolean() ? permits : random.nextLong(permits + 1);
                history.refund(outcomes, refunded);
                RateLimitDecision after = history.peek(limit);
                history.check(
                        !allowed || refunded < permits || after.equals(before), "Nothing must be left of the call");
                history.refund(outcomes, permits);
                history.check(history.peek(limit).equals(after), "The second refund must return nothing");
                history.decide(limit, history.drawPermits(limit));
                history.advance(limit);
            }
        });
    }

    /** Other calls have taken permits meanwhile, which are theirs. */
    @Test
    void permitsThatAreBackAreNotRefunded() {
        forEachHistory((limit, random, history) -> {
            for (int i = 0; i < STEPS / 4; i++) {
                List<StoreOutcome> outcomes = history.decideRefundably(limit, 1 + random.nextLong(limit.capacity()));
                history.setClock(history.now()
                        + History.micros(outcomes.get(0).decision().resetAfter()));
                history.decide(limit, history.drawPermits(limit));
                RateLimitDecision before = history.peek(limit);
                Charge charge = outcomes.get(0).charges().get(0);
                history.refund(outcomes, charge.permits());
                history.check(history.peek(limit).equals(before), "Permits that are back must not be refunded");
            }
        });
    }

    @Test
    void oneOfSeveralChargesIsRefunded() {
        forEachHistory((limit, random, history) -> {
            RateLimit other = draw(random);
            if (other.id().equals(limit.id())) {
                return;
            }
            List<Charge> charges = List.of(new Charge(limit, history.key(), 1), new Charge(other, history.key(), 1));
            history.ask("call for " + charges + ", with a refund of the first", store -> {
                StoreOutcome outcome =
                        store.decide(StoreRequest.refundable(charges)).await();
                await(outcome.refund().refund(charges.subList(0, 1)));
                return outcome.decisions();
            });
            history.decide(limit, limit.capacity());
            history.decide(other, other.capacity());
        });
    }

    /** A bucket in debt rejects calls until enough permits are back. */
    @Test
    void chargeGoesBeyondTheCapacity() {
        requireSupport(
                "charges beyond the capacity",
                () -> store().charge(new Charge(anyLimit(), histories.key("support"), 1)));
        forEachHistory((limit, random, history) -> {
            for (int i = 0; i < STEPS; i++) {
                if (random.nextInt(4) == 0) {
                    long permits = random.nextLong(2 * limit.capacity() + 1);
                    history.ask("charge of " + permits, store -> {
                        await(store.charge(new Charge(limit, history.key(), permits)));
                        return "done";
                    });
                }
                history.decide(limit, history.drawPermits(limit));
                history.advance(limit);
            }
        });
    }

    @Test
    void bucketThatIsResetIsFull() {
        forEachHistory((limit, random, history) -> {
            RateLimitDecision unused = history.peek(limit);
            Charge neighbour = new Charge(limit, history.key() + "-neighbour", 1);
            history.decide(List.of(neighbour));
            for (int i = 0; i < STEPS / 4; i++) {
                history.decide(limit, history.drawPermits(limit));
                history.ask("reset", store -> await(store.change(limit, history.key(), BucketChange.RESET)));
                history.check(history.peek(limit).equals(unused), "A bucket must be full after its reset");
                history.ask(
                        "peek at another key",
                        store -> store.decide(StoreRequest.peek(neighbour))
                                .await()
                                .decision());
                history.decide(limit, history.drawPermits(limit));
                history.advance(limit);
            }
        });
    }

    @Test
    void statusOfABucketEqualsThatOfTheReference() {
        playChanges("looks at buckets", (random, limit) -> BucketChange.NONE);
    }

    @Test
    void grantedPermitsAreAvailable() {
        playChanges("grants", (random, limit) -> BucketChange.grant(1 + random.nextLong(2 * limit.capacity())));
    }

    @Test
    void blockedKeyIsRejectedUntilTheBlockEnds() {
        playChanges(
                "blocks",
                (random, limit) -> random.nextInt(3) == 0
                        ? BucketChange.UNBLOCK
                        : BucketChange.block(Duration.ofMillis(1 + random.nextInt(60_000))));
    }

    private void playChanges(String what, Draw draw) {
        requireSupport(
                what,
                () -> store().change(anyLimit(), histories.key("support"), draw.change(new Random(0), anyLimit())));
        forEachHistory((limit, random, history) -> {
            for (int i = 0; i < STEPS / 2; i++) {
                BucketChange change = draw.change(random, limit);
                BucketStatus status =
                        history.ask(change.toString(), store -> await(store.change(limit, history.key(), change)));
                history.check(status.capacity() == limit.capacity(), "The capacity must be that of the limit");
                history.decide(limit, history.drawPermits(limit));
                history.advance(limit);
            }
        });
    }

    /** Permits of a concurrency limit come back by a refund alone. */
    @Test
    void permitsAreHeldUntilTheyAreRefunded() {
        RateLimit limit = ContractLimits.concurrency();
        Assumptions.assumeTrue(supports(limit), "The store does not support concurrency limits");
        histories.play(List.of(limit), stores, (held, random, history) -> {
            List<List<StoreOutcome>> calls = new ArrayList<>();
            for (int i = 0; i < STEPS; i++) {
                if (random.nextInt(3) > 0) {
                    calls.add(history.decideRefundably(limit, 1 + random.nextInt(2)));
                } else if (!calls.isEmpty()) {
                    List<StoreOutcome> call = calls.get(random.nextInt(calls.size()));
                    history.refund(call, call.get(0).charges().get(0).permits());
                }
                history.peek(limit);
            }
        });
    }

    /** A lease is taken from the bucket like permits of calls, and its unused permits return. */
    @Test
    void leasedPermitsAreTakenFromTheBucket() {
        requireLeases();
        histories.play(leasable(), withoutReference(), (limit, random, history) -> {
            for (int i = 0; i < STEPS / 2; i++) {
                long before = history.peek(limit).remaining();
                long more = random.nextLong(limit.capacity());
                StoreOutcome outcome = history.ask(
                        "call with a lease of " + more,
                        store -> store.decide(StoreRequest.lease(new Charge(limit, history.key(), 1), more))
                                .await());
                long own = outcome.decision().allowed() ? 1 : 0;
                Lease taken = outcome.lease();
                Lease lease = taken == null ? Lease.NONE : taken;
                history.check(lease.permits() <= more * own, "No more must be leased than was asked for");
                history.check(
                        history.peek(limit).remaining() == before - own - lease.permits(),
                        "The bucket must lack the permits of the call and of the lease");
                await(lease.unused().refund(lease.permits()));
                history.check(history.peek(limit).remaining() == before - own, "The lease must be refunded");
                history.advance(limit);
            }
        });
    }

    private List<RateLimit> leasable() {
        return supported().stream()
                .filter(limit -> limit.blockFor().isEmpty()
                        && limit.maxWait().isZero()
                        && limit.ownAlgorithm() == null
                        && limit.algorithm() != Algorithm.LEAKY_BUCKET)
                .toList();
    }

    private void requireLeases() {
        Assumptions.assumeFalse(leasable().isEmpty(), "The store supports no limit with leases");
        Charge charge = new Charge(leasable().get(0), histories.key("support"), 1);
        Assumptions.assumeFalse(
                store().decide(StoreRequest.lease(charge, 1)).await().lease() == null,
                "The store does not support leases");
    }

    /** Draws a change. */
    private interface Draw {

        BucketChange change(Random random, RateLimit limit);
    }
}
