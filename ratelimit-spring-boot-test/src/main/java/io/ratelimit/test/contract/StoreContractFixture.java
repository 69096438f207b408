package io.ratelimit.test.contract;

import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitOverride;
import io.ratelimit.internal.concurrent.BoundedWait;
import io.ratelimit.internal.memory.InMemoryRateLimitStore;
import io.ratelimit.spi.Charge;
import io.ratelimit.spi.RateLimitStore;
import io.ratelimit.spi.TimeSource;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;

/** Creates the store under test and the reference, and asks both. */
abstract class StoreContractFixture {

    private static final Duration PATIENCE = Duration.ofMinutes(1);

    final Histories histories = new Histories(getClass());

    /** The reference and the store under test. */
    final List<StoreUnderTest> stores = new ArrayList<>();

    private List<RateLimit> supported = List.of();

    abstract RateLimitStore store(TimeSource time);

    abstract boolean supports(RateLimit limit);

    @BeforeEach
    final void createStores() {
        TimeSource time = histories::now;
        stores.add(new StoreUnderTest("reference", new InMemoryRateLimitStore(time, 1_000_000), () -> -1));
        stores.add(new StoreUnderTest("store", store(time), () -> -1));
        supported = ContractLimits.all().stream().filter(this::supports).toList();
        if (supported.isEmpty()) {
            throw new AssertionError("supports() must return true for at least one of " + ContractLimits.all());
        }
    }

    RateLimitStore store() {
        return stores.get(1).store();
    }

    List<StoreUnderTest> withoutReference() {
        return stores.subList(1, 2);
    }

    /** Returns the limits of the contract that the store supports. */
    List<RateLimit> supported() {
        return supported;
    }

    RateLimit anyLimit() {
        return supported.get(0);
    }

    RateLimit draw(Random random) {
        return supported.get(random.nextInt(supported.size()));
    }

    static RateLimit dryRun(RateLimit limit) {
        return limit.definition().with(RateLimitOverride.builder().dryRun(true).build());
    }

    void forEachHistory(Histories.Play<RateLimit> play) {
        histories.play(supported, stores, play);
    }

    static <T> T await(CompletionStage<T> answer) {
        return BoundedWait.get(answer, PATIENCE);
    }

    /** Skips the test if the store does not support the operation. */
    static void requireSupport(String what, Supplier<CompletionStage<?>> call) {
        try {
            await(call.get());
        } catch (UnsupportedOperationException ex) {
            throw Assumptions.<RuntimeException>abort("The store does not support " + what);
        }
    }

    /** Fails unless the call throws such an exception, with a message that does not tell the key. */
    void checkFailure(String what, Class<?> expected, Supplier<?> call) {
        Object answer;
        try {
            answer = call.get();
        } catch (RuntimeException ex) {
            if (expected.isInstance(ex) && !String.valueOf(ex.getMessage()).contains(histories.key(""))) {
                return;
            }
            answer = ex;
        }
        throw new AssertionError(what + " must fail with " + expected.getSimpleName()
                + " and a message without the key (was " + answer + ")");
    }

    /** Fails unless as many concurrent calls are admitted as the reference admits one after the other. */
    void checkConcurrentCalls(List<Charge> charges) {
        ConcurrentCalls calls = new ConcurrentCalls(charges);
        long expected = calls.admittedInTurns(stores.get(0).store());
        long admitted = calls.admittedTogether(store());
        if (admitted != expected) {
            throw new AssertionError(
                    expected + " concurrent calls must be admitted (was " + admitted + "): " + charges);
        }
    }
}
