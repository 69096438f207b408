package io.ratelimit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.ratelimit.internal.limiter.LocalShare;
import io.ratelimit.internal.limiter.RateLimitSettings;
import io.ratelimit.testing.LimitKind;
import io.ratelimit.testing.TestLimits;
import io.ratelimit.testing.TestSettings;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** What becomes of a limit's numbers when it is divided. */
class LocalShareTests {

    @ParameterizedTest
    @CsvSource({
        "TOKEN_BUCKET,              20, 10/s,  4, 'TOKEN_BUCKET, capacity 5 at 1/400ms'",
        "TOKEN_BUCKET,              20, 10/s,  3, 'TOKEN_BUCKET, capacity 6 at 1/300ms'",
        "TOKEN_BUCKET,               2, 10/s,  3, 'TOKEN_BUCKET, capacity 1 at 1/300ms'",
        "TOKEN_BUCKET_WITH_WAIT,    20, 10/s,  3, 'TOKEN_BUCKET, capacity 6 at 1/300ms, maxWait 1s'",
        "LEAKY_BUCKET,               7, 7/11us, 2, 'LEAKY_BUCKET, capacity 3 at 7/22us'",
        "TOKEN_BUCKET_BY_INTERVALS, 21, 6/h,   3, 'TOKEN_BUCKET, capacity 7 at 2/h, refill INTERVAL'",
        "TOKEN_BUCKET_BY_INTERVALS, 10, 99/h,  2, 'TOKEN_BUCKET, capacity 5 at 5/h, refill INTERVAL'",
        "TOKEN_BUCKET_BY_INTERVALS, 21, 7/h,   3, 'TOKEN_BUCKET, capacity 7 at 7/3h'",
        "TOKEN_BUCKET_BY_INTERVALS,  2, 99/h,  3, 'TOKEN_BUCKET, capacity 1 at 2/3h'",
        "FIXED_WINDOW,              20, 10/s,  3, 'FIXED_WINDOW, capacity 6 at 6/2s'",
        "FIXED_WINDOW,               5, 7/s,   2, 'FIXED_WINDOW, capacity 2 at 2/714286us'",
        "FIXED_WINDOW,               2, 10/s,  3, 'FIXED_WINDOW, capacity 1 at 1/300ms'",
        "SLIDING_WINDOW,            20, 10/s,  3, 'SLIDING_WINDOW, capacity 6 at 6/2s'",
        "SLIDING_WINDOW,             7, 7/s,   8, 'SLIDING_WINDOW, capacity 1 at 1/1142858us'",
        "SLIDING_WINDOW_LOG,        20, 10/s,  3, 'SLIDING_WINDOW_LOG, capacity 6 at 6/2s'"
    })
    void capacityIsRoundedDownAndWindowsStayAsLong(
            LimitKind kind, long capacity, String rate, int instances, String share) {
        assertThat(new LocalShare(instances).of(kind.limit("limit", capacity, rate), 0))
                .hasToString(share);
    }

    @ParameterizedTest
    @EnumSource
    void oneInstanceHasTheWholeLimit(LimitKind kind) {
        RateLimit limit = kind.limit("limit", 20, "10/s");
        assertThat(LocalShare.WHOLE.of(limit, 0)).isSameAs(limit);
        assertThat(limit.local(0)).isSameAs(limit);
    }

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "LOCAL")
    void limitThatNoInstanceDecidesByItselfIsNotDivided(OnStoreFailure policy) {
        RateLimit limit = TestLimits.failingBy(policy, "limit");
        assertThat(new LocalShare(3).of(limit, 0)).isSameAs(limit);
    }

    @Test
    void limitOfAnInstanceIsNotDivided() {
        RateLimit limit =
                RateLimit.named("own").rate("10/s").scope(Scope.INSTANCE).build();
        assertThat(new LocalShare(2).of(limit, 0)).isSameAs(limit);
    }

    @Test
    void shareIsDividedOnceAndInDryRunAsTheLimitIs() {
        RateLimit limit = settings(3, true).apply(RateLimit.named("Exports").rate("9/s"));
        assertThat(limit).hasToString("TOKEN_BUCKET, capacity 9 at 9/s, dry run");
        assertThat(limit.local(0)).hasToString("TOKEN_BUCKET, capacity 3 at 9/3s, dry run");
        assertThat(limit.local(0)).isSameAs(limit.local(0));
        assertThat(limit.local(0).id()).isEqualTo(limit.id());
        assertThat(limit.local(0).local(0)).isSameAs(limit.local(0));
    }

    @Test
    void shareThatCannotBeCarriedIsAMistakeInTheConfiguration() {
        assertThatExceptionOfType(RateLimitConfigurationException.class)
                .isThrownBy(() ->
                        settings(100_000, false).apply(RateLimit.named("rare").rate("1/d")))
                .satisfies(mistake -> {
                    assertThat(mistake.getProblem())
                            .isEqualTo(
                                    "ratelimit.expected-instances must divide limit 'rare' (TOKEN_BUCKET, capacity 1 at 1/d)"
                                            + " exactly in integers below 2^53 (was 100000).");
                    assertThat(mistake.getFix())
                            .isEqualTo("Expect fewer instances, use rounder numbers, or set"
                                    + " ratelimit.limits.rare.on-store-failure to allow, reject or throw.");
                });
    }

    @ParameterizedTest
    @EnumSource
    void longestTimesTimesTheMostInstancesAreAMistakeToo(LimitKind kind) {
        RateLimit limit = kind.limit("rare", 1, "1/P365D", kind.waits() ? Duration.ofDays(1) : Duration.ZERO);
        assertThatExceptionOfType(RateLimitConfigurationException.class)
                .isThrownBy(() -> new LocalShare(Integer.MAX_VALUE).of(limit, 0))
                .withMessageContaining("'rare'");
    }

    @Test
    void instancesThanWhichThereAreFewerPermitsAreWarnedOf() {
        RateLimit few = settings(4, false).apply(RateLimit.named("few").rate("3/s"));
        assertThat(new LocalShare(4).warning(few))
                .hasValue(
                        "Rate limit 'few': its capacity 3 is less than ratelimit.expected-instances 4, so while the store"
                                + " fails, the instances together let 4 through at once");
        RateLimit enough = settings(4, false).apply(RateLimit.named("enough").rate("4/s"));
        assertThat(new LocalShare(4).warning(enough)).isEmpty();
        assertThat(new LocalShare(4).warning(TestLimits.failingBy(OnStoreFailure.ALLOW, "never")))
                .isEmpty();
    }

    private static RateLimitSettings settings(int instances, boolean dryRun) {
        return TestSettings.of(dryRun, OnStoreFailure.LOCAL, new LocalShare(instances), Map.of());
    }
}
