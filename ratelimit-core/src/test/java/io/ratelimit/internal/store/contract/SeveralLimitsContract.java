package io.ratelimit.internal.store.contract;

import static io.ratelimit.testing.TestLimits.dryRun;
import static io.ratelimit.testing.TestLimits.fixedWindow;
import static io.ratelimit.testing.TestLimits.tokenBucket;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitDecision;
import io.ratelimit.spi.Charge;
import io.ratelimit.spi.StoreRequest;
import io.ratelimit.testing.LimitKind;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Several limits of one call: every one is charged, or none is. */
public abstract class SeveralLimitsContract extends StoreContract {

    private final RateLimit wide = tokenBucket("wide", 3, "1/h");

    private final RateLimit narrow = fixedWindow("narrow", 1, "1/h");

    @Test
    void allAreCharged() {
        assertThat(takeOneOfEach(wide, narrow)).allMatch(RateLimitDecision::allowed);
        assertThat(remaining(wide)).isEqualTo(2);
        assertThat(remaining(narrow)).isZero();
    }

    @Test
    void noneIsChargedWhereOneRejects() {
        takeOneOfEach(wide, narrow);
        assertThat(takeOneOfEach(wide, narrow))
                .extracting(RateLimitDecision::allowed)
                .containsExactly(true, false);
        assertThat(takeOneOfEach(narrow, wide))
                .extracting(RateLimitDecision::remaining)
                .containsExactly(0L, 2L);
    }

    @ParameterizedTest
    @EnumSource
    void noKindIsChargedWhereAnotherRejects(LimitKind kind) {
        RateLimit limit = kind.limit("kind", 3, "3/h");
        takeOneOfEach(limit, narrow);
        assertThat(takeOneOfEach(limit, narrow))
                .extracting(RateLimitDecision::allowed)
                .containsExactly(true, false);
        assertThat(takeOneOfEach(narrow, limit))
                .extracting(RateLimitDecision::remaining)
                .containsExactly(0L, 2L);
        assertThat(remaining(limit)).isEqualTo(2);
    }

    @ParameterizedTest
    @EnumSource
    void everyKindKeepsTheOthersFromBeingCharged(LimitKind kind) {
        RateLimit limit = kind.limit("kind", 1, "1/h");
        take(limit, 1);
        takeOneOfEach(wide, limit);
        assertThat(remaining(wide)).isEqualTo(3);
        takeOneOfEach(wide, dryRun(limit));
        assertThat(remaining(wide)).isEqualTo(2);
    }

    @Test
    void dryRunDoesNotBlockTheOthers() {
        RateLimit trial = dryRun(narrow);
        takeOneOfEach(wide, trial);
        assertThat(takeOneOfEach(trial, wide))
                .extracting(RateLimitDecision::allowed)
                .containsExactly(false, true);
        assertThat(remaining(wide)).isEqualTo(1);
    }

    @Test
    void dryRunIsNotBlockedByTheOthers() {
        RateLimit trial = dryRun(wide);
        takeOneOfEach(narrow, trial);
        assertThat(takeOneOfEach(narrow, trial))
                .extracting(RateLimitDecision::allowed)
                .containsExactly(false, true);
        assertThat(remaining(wide)).isEqualTo(1);
    }

    @Test
    void freeChargesLeaveTheirBucketsAlone() {
        take(narrow, 1);
        store.decide(StoreRequest.of(List.of(new Charge(narrow, KEY, 0), new Charge(wide, KEY, 2))))
                .await();
        assertThat(remaining(narrow)).isZero();
        assertThat(remaining(wide)).isEqualTo(1);
    }

    @Test
    void eachChargeHasItsOwnKey() {
        store.decide(StoreRequest.of(List.of(new Charge(wide, "alice", 1), new Charge(wide, "bob", 2))))
                .await();
        assertThat(store.decide(StoreRequest.peek(new Charge(wide, "alice", 0)))
                        .await()
                        .decision()
                        .remaining())
                .isEqualTo(2);
        assertThat(store.decide(StoreRequest.peek(new Charge(wide, "bob", 0)))
                        .await()
                        .decision()
                        .remaining())
                .isEqualTo(1);
    }

    @Test
    void twoChargesOfOneBucketAreRefused() {
        List<Charge> twice = List.of(new Charge(wide, KEY, 1), new Charge(narrow, KEY, 1), new Charge(wide, KEY, 2));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> store.decide(StoreRequest.of(twice)).await());
        assertThatIllegalArgumentException()
                .isThrownBy(() -> store.decide(StoreRequest.of(twice)).toStage());
        assertThat(remaining(wide)).isEqualTo(3);
        assertThat(remaining(narrow)).isEqualTo(1);
    }
}
