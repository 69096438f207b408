package io.ratelimit.internal.store.contract;

import static io.ratelimit.testing.TestLimits.blocking;
import static io.ratelimit.testing.TestLimits.calendarWindow;
import static io.ratelimit.testing.TestLimits.tokenBucket;
import static java.time.Duration.ZERO;
import static java.time.Duration.between;
import static java.time.Duration.ofMinutes;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitDecision;
import io.ratelimit.spi.BucketChange;
import io.ratelimit.spi.Charge;
import io.ratelimit.spi.StoreOutcome;
import io.ratelimit.spi.StoreRequest;
import io.ratelimit.testing.TestRandom;
import java.time.Duration;
import java.time.Instant;
import java.time.YearMonth;
import java.time.ZoneId;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Windows that are units of the calendar. */
public abstract class CalendarWindowContract extends StoreContract {

    private static final Instant MARCH = Instant.parse("2026-03-15T12:00:00Z");

    private final RateLimit month = calendarWindow("quota", "10/month", "Europe/Berlin");

    private void setClock(Instant time) {
        clock.set(time.getEpochSecond() * SECOND + time.getNano() / 1_000);
    }

    private Instant now() {
        return Instant.ofEpochSecond(0, 0).plusNanos(clock.micros() * 1_000);
    }

    /** April begins at midnight in summer time. */
    @Test
    void windowEndsWithItsUnitWheneverItsFirstCallWas() {
        setClock(MARCH);
        Instant april = Instant.parse("2026-03-31T22:00:00Z");
        assertThat(peek(month, 10)).isEqualTo(allowed(10, 10, ZERO));
        assertThat(take(month, 9)).isEqualTo(allowed(10, 1, between(MARCH, april)));
        assertThat(take(month, 2)).isEqualTo(rejected(10, 1, between(MARCH, april), between(MARCH, april)));
        assertThat(take(month, 11)).isEqualTo(rejected(10, 1, null, between(MARCH, april)));
        setClock(april.minusNanos(1_000));
        assertThat(take(month, 2).allowed()).isFalse();
        assertThat(take(month, 1)).isEqualTo(allowed(10, 0, Duration.ofNanos(1_000)));
        setClock(april);
        assertThat(take(month, 10)).isEqualTo(allowed(10, 0, Duration.ofDays(30)));
    }

    @ParameterizedTest
    @CsvSource({"Europe/Berlin, 2026", "Pacific/Apia, 2011"})
    void yearOfAMonthlyQuotaIsAsTheCalendarSays(ZoneId zone, int year) {
        RateLimit quota = calendarWindow("year-of-quota", "60/month", zone.getId());
        Map<YearMonth, Integer> taken = new HashMap<>();
        setClock(YearMonth.of(year, 1).atDay(1).atStartOfDay(zone).toInstant().minusSeconds(30));
        Instant end = YearMonth.of(year + 1, 1).atDay(3).atStartOfDay(zone).toInstant();
        while (now().isBefore(end)) {
            YearMonth shown = YearMonth.from(now().atZone(zone));
            Instant next = shown.plusMonths(1).atDay(1).atStartOfDay(zone).toInstant();
            int count = taken.merge(shown, 1, Integer::sum);
            RateLimitDecision decision = take(quota, 1);
            assertThat(decision)
                    .as("%s", now())
                    .isEqualTo(
                            count <= 60
                                    ? allowed(60, 60 - count, between(now(), next))
                                    : rejected(60, 0, between(now(), next), between(now(), next)));
            setClock(now().plus(Duration.ofHours(10).plusMinutes(37)));
        }
        assertThat(taken).hasSize(14);
    }

    /** A rate a second is used while an incident lasts. */
    @Test
    void consumptionIsKeptThroughOtherRatesAndBack() {
        setClock(MARCH);
        RateLimit quota = calendarWindow("changing", "10000/month", "UTC");
        RateLimit slower = tokenBucket("changing", 10, "10/s");
        take(quota, 4_000);
        assertThat(take(slower, 1).allowed()).isFalse();
        clock.advance(ofSeconds(1));
        assertThat(take(slower, 10).allowed()).isTrue();
        assertThat(remaining(quota)).isEqualTo(5_990);
        clock.advance(HOUR);
        assertThat(take(slower, 3).remaining()).isEqualTo(7);
        assertThat(take(quota, 1).remaining()).isEqualTo(5_986);
    }

    @Test
    void consumptionOfAnotherUnitCountsInThePresentOne() {
        setClock(MARCH);
        RateLimit day = calendarWindow("units", "10/day", "UTC");
        RateLimit year = calendarWindow("units", "100/year", "UTC");
        take(day, 7);
        assertThat(take(year, 1).remaining()).isEqualTo(92);
        assertThat(remaining(day)).isEqualTo(2);
        clock.advance(Duration.ofDays(1));
        assertThat(remaining(day)).isEqualTo(10);
        assertThat(remaining(year)).isEqualTo(92);
        setClock(Instant.parse("2027-01-01T00:00:00Z"));
        assertThat(remaining(year)).isEqualTo(100);
    }

    /** As with plans: a caller pays for more, uses it, and pays no longer. */
    @Test
    void rulesOfOneUnitCountTogetherInEveryWindow() {
        RateLimit free = calendarWindow("plans", "10/month", "UTC");
        RateLimit paid = calendarWindow("plans", "100/month", "UTC");
        setClock(MARCH);
        take(free, 4);
        assertThat(take(paid, 50).remaining()).isEqualTo(46);
        assertThat(remaining(free)).isZero();
        // Until then the key is there, because the block lasts into April.
        store.change(free, KEY, BucketChange.block(Duration.ofDays(20)))
                .toCompletableFuture()
                .join();
        setClock(Instant.parse("2026-04-20T00:00:00Z"));
        assertThat(take(paid, 5).remaining()).isEqualTo(95);
        assertThat(remaining(free)).isEqualTo(5);
    }

    @Test
    void windowThatIsOpenKeepsItsEndIfTheZoneChanges() {
        setClock(Instant.parse("2026-03-31T16:00:00Z"));
        RateLimit tokyo = calendarWindow("moved", "10/month", "Asia/Tokyo");
        RateLimit honolulu = calendarWindow("moved", "10/month", "Pacific/Honolulu");
        take(honolulu, 10);
        // In Tokyo it is April, but these permits were taken in March of Honolulu.
        Duration left = between(now(), Instant.parse("2026-04-01T10:00:00Z"));
        assertThat(take(tokyo, 1)).isEqualTo(rejected(10, 0, left, left));
        assertThat(peek(calendarWindow("moved", "20/month", "Asia/Tokyo"), 11)).isEqualTo(rejected(20, 10, left, left));
        clock.advance(left);
        assertThat(store.decide(StoreRequest.refundable(List.of(new Charge(tokyo, KEY, 1))))
                        .await()
                        .decision())
                .isEqualTo(allowed(10, 9, between(now(), Instant.parse("2026-04-30T15:00:00Z"))));
        assertThat(remaining(honolulu)).isEqualTo(9);
    }

    /** One of two instances does not know yet that the zone has another offset now. */
    @Test
    void instancesThatDisagreeNeverTakeMoreThanTheCapacityBetweenTwoBeginnings() {
        Random random = TestRandom.create(getClass());
        RateLimit old = calendarWindow("disputed", "5/day", "+02:00");
        RateLimit present = calendarWindow("disputed", "5/day", "+03:00");
        long day = 24 * HOUR;
        clock.set(clock.micros() / day * day);
        long part = -1;
        long taken = 0;
        int full = 0;
        for (int call = 0; call < 1_500; call++) {
            clock.advance(random.nextLong(HOUR / 2));
            long time = clock.micros();
            long begun = (time + 2 * HOUR) / day + (time + 3 * HOUR) / day;
            taken = begun == part ? taken : 0;
            part = begun;
            RateLimitDecision decision = take(random.nextBoolean() ? old : present, 1);
            taken += decision.allowed() ? 1 : 0;
            full += taken == 5 ? 1 : 0;
            assertThat(taken).isLessThanOrEqualTo(5);
            // Whatever the other instance thinks, no window is longer than a day.
            assertThat(decision.resetAfter()).isLessThanOrEqualTo(Duration.ofDays(1));
        }
        assertThat(full).isGreaterThan(50);
    }

    @Test
    void chargeIsRefundedAsLongAsItsUnitLasts() {
        setClock(MARCH);
        StoreOutcome first = takeRefundably(4);
        take(month, 6);
        refund(first, 4);
        assertThat(take(month, 4).allowed()).isTrue();
        assertThat(remaining(month)).isZero();
        setClock(Instant.parse("2026-03-31T21:59:59Z"));
        store.change(month, KEY, BucketChange.RESET).toCompletableFuture().join();
        StoreOutcome last = takeRefundably(3);
        clock.advance(ofSeconds(1));
        take(month, 3);
        refund(last, 3);
        assertThat(remaining(month)).isEqualTo(7);
        // The charge that opened the window does not end it.
        StoreOutcome only = takeRefundably(7);
        refund(only, 7);
        assertThat(take(month, 7).resetAfter()).isEqualTo(Duration.ofDays(30));
    }

    private StoreOutcome takeRefundably(long permits) {
        return store.decide(StoreRequest.refundable(List.of(new Charge(month, KEY, permits))))
                .await();
    }

    private void refund(StoreOutcome outcome, long permits) {
        outcome.refund()
                .refund(List.of(new Charge(month, KEY, permits)))
                .toCompletableFuture()
                .join();
    }

    @Test
    void keyIsBlockedPastTheEndOfAUnit() {
        RateLimit limit = blocking(calendarWindow("blocking", "2/day", "UTC"), ofMinutes(10));
        setClock(Instant.parse("2026-03-31T23:55:00Z"));
        take(limit, 2);
        assertThat(take(limit, 1)).isEqualTo(rejected(2, 0, ofMinutes(10), ofMinutes(10)));
        clock.advance(ofMinutes(6));
        assertThat(take(limit, 1)).isEqualTo(rejected(2, 0, ofMinutes(4), ofMinutes(4)));
        clock.advance(ofMinutes(4));
        assertThat(take(limit, 2).allowed()).isTrue();
    }

    @Test
    void grantedPermitsAreOfThePresentUnit() {
        setClock(MARCH);
        take(month, 10);
        var granted = store.change(month, KEY, BucketChange.grant(3))
                .toCompletableFuture()
                .join();
        assertThat(granted.remaining()).isEqualTo(3);
        assertThat(granted.resetAfter()).isEqualTo(between(MARCH, Instant.parse("2026-03-31T22:00:00Z")));
        assertThat(take(month, 3).allowed()).isTrue();
        assertThat(take(month, 1).allowed()).isFalse();
    }

    @Test
    void clockThatIsSetBackOverTheBeginningOfAUnitRenewsNothing() {
        setClock(Instant.parse("2026-03-31T22:00:10Z"));
        take(month, 10);
        clock.advance(ofMinutes(-1));
        assertThat(take(month, 1).retryAfter()).isEqualTo(Duration.ofDays(30));
        clock.advance(ofMinutes(2));
        assertThat(take(month, 1).allowed()).isFalse();
        // By years, and the bucket's time goes on.
        clock.advance(Duration.ofDays(-1_000));
        assertThat(take(month, 1).retryAfter()).isLessThanOrEqualTo(Duration.ofDays(31));
    }

    @Test
    void allLimitsOfACallAreChargedOrNone() {
        setClock(MARCH);
        RateLimit day = calendarWindow("daily", "2/day", "UTC");
        RateLimit burst = tokenBucket("burst", 5, "5/s");
        assertThat(takeOneOfEach(month, day, burst)).allMatch(RateLimitDecision::allowed);
        assertThat(takeOneOfEach(month, day, burst)).allMatch(RateLimitDecision::allowed);
        assertThat(takeOneOfEach(month, day, burst))
                .extracting(RateLimitDecision::allowed)
                .containsExactly(true, false, true);
        assertThat(remaining(month)).isEqualTo(8);
        clock.advance(HOUR * 12);
        assertThat(takeOneOfEach(burst, day, month)).allMatch(RateLimitDecision::allowed);
        assertThat(remaining(month)).isEqualTo(7);
    }
}
