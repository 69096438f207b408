package io.ratelimit.internal.store.lease;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.Algorithm;
import io.ratelimit.RateLimit;
import io.ratelimit.testing.TestRandom;
import java.time.Duration;
import java.time.Instant;
import java.time.YearMonth;
import java.time.ZoneOffset;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Leases of calendar windows end with them, whenever they were taken. */
class CalendarLeaseTests {

    @RegisterExtension
    final LeasingInstances instances = new LeasingInstances();

    private final RateLimit quota = RateLimit.named("quota")
            .algorithm(Algorithm.FIXED_WINDOW)
            .rate("1000/month")
            .lease(100)
            .build();

    private Instant now() {
        return Instant.ofEpochMilli(instances.clock().micros() / 1_000);
    }

    @Test
    void permitsThatWereLeasedInOneMonthAreNotUsedInTheNext() {
        instances.clock().set(Instant.parse("2026-11-30T23:59:59Z").getEpochSecond() * 1_000_000);
        instances.take(60, quota);
        assertThat(instances.used(quota)).isGreaterThan(60);
        instances.clock().advance(Duration.ofSeconds(1));
        assertThat(instances.used(quota)).isZero();
        instances.take(1, quota);
        assertThat(instances.used(quota)).isPositive();
    }

    @Test
    void instancesWithLeasesNeverExceedTheQuotaOfAMonth() {
        Random random = TestRandom.create(getClass());
        LeasingRateLimitStore other = instances.add(10);
        YearMonth month = null;
        int taken = 0;
        int full = 0;
        for (int call = 0; call < 12_000; call++) {
            YearMonth shown = YearMonth.from(now().atZone(ZoneOffset.UTC));
            taken = shown.equals(month) ? taken : 0;
            month = shown;
            boolean allowed = random.nextBoolean()
                    ? instances.take(quota, 1).allowed()
                    : LeasingInstances.take(other, quota, 1).allowed();
            taken += allowed ? 1 : 0;
            full += taken == 1_000 && allowed ? 1 : 0;
            assertThat(taken).isLessThanOrEqualTo(1_000);
            instances
                    .clock()
                    .advance(random.nextInt(100) == 0 ? random.nextLong(60_000_000_000L * 4) : random.nextInt(1_000));
        }
        assertThat(full).isPositive();
    }
}
