package io.ratelimit.web;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.Algorithm;
import io.ratelimit.Rate.CalendarUnit;
import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitDecision;
import io.ratelimit.spi.Charge;
import io.ratelimit.testing.TestClock;
import io.ratelimit.testing.TestLimits;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What a response says, of what limits have said. */
class RateLimitHeadersTests {

    private static final RateLimit QUOTES = TestLimits.tokenBucket("quotes", 20, "10/s");

    private static final RateLimit DAILY = TestLimits.fixedWindow("daily_2-x", 1_000, "1000/d");

    private final HeaderRecord statuses = new HeaderRecord();

    private final TestClock clock = new TestClock();

    @Test
    void allowedCallSaysWhatRemainsAndUntilWhenAllIsBack() {
        say(QUOTES, allowed(20, 12, 800_000));
        assertThat(fields(HeaderFormat.IETF))
                .isEqualTo(Map.of("RateLimit-Policy", "\"quotes\";q=20;w=2", "RateLimit", "\"quotes\";r=12;t=1"));
    }

    /** Nothing tells when a call ends. */
    @Test
    void permitsThatCallsHoldHaveNoTime() {
        RateLimit exports = TestLimits.concurrency("exports", 5);
        say(exports, allowed(5, 3, 1_000_000));
        assertThat(fields(HeaderFormat.IETF))
                .isEqualTo(Map.of("RateLimit-Policy", "\"exports\";q=5", "RateLimit", "\"exports\";r=3"));
    }

    @Test
    void rejectedCallSaysWhenItCanSucceed() {
        say(QUOTES, rejected(20, 0, 2_000_001));
        assertThat(fields(HeaderFormat.IETF)).containsEntry("RateLimit", "\"quotes\";r=0;t=3");
    }

    @Test
    void callThatNeverCanSucceedSaysWhenAllIsBack() {
        say(QUOTES, rejected(20, 3, -1));
        assertThat(fields(HeaderFormat.IETF)).containsEntry("RateLimit", "\"quotes\";r=3;t=9");
    }

    @Test
    void limitThatWasDisabledWhileTheCallWaitedSaysNothing() {
        say(RateLimit.named("exports").rate("5/s").enabled(false).build(), allowed(5, 5, 0));
        assertThat(fields(HeaderFormat.IETF)).isEmpty();
    }

    @Test
    void everyLimitIsAMemberInTheOrderOfTheirAsking() {
        say(List.of(DAILY, QUOTES), List.of(allowed(1_000, 999, 86_400_000_000L), allowed(20, 19, 100_000)));
        assertThat(fields(HeaderFormat.IETF))
                .containsEntry("RateLimit-Policy", "\"daily_2-x\";q=1000;w=86400, \"quotes\";q=20;w=2")
                .containsEntry("RateLimit", "\"daily_2-x\";r=999;t=86400, \"quotes\";r=19;t=1");
    }

    @ParameterizedTest
    @CsvSource({"1000000000,10000000/s,100", "1,1/d,86400", "3,2/s,2", "1,1000/s,1", "1,3/s,1", "20,10/s,2"})
    void windowIsRoundedUpToWholeSeconds(long capacity, String rate, long window) {
        RateLimit limit = TestLimits.tokenBucket("quotes", capacity, rate);
        say(limit, allowed(capacity, capacity - 1, 1));
        assertThat(fields(HeaderFormat.IETF))
                .containsEntry("RateLimit-Policy", "\"quotes\";q=" + capacity + ";w=" + window)
                .containsEntry("RateLimit", "\"quotes\";r=" + (capacity - 1) + ";t=1");
    }

    /** November has 30 days, of 720 hours in UTC; the clock of the instance is wrong by less than half of that. */
    @ParameterizedTest
    @CsvSource({
        "MONTH, 2026-11-20T00:00:00Z, P11D, 2592000",
        "MONTH, 2026-12-02T00:00:00Z, P11D, 2592000",
        "MONTH, 2026-11-10T00:00:00Z, P11D, 2592000",
        "MONTH, 2026-12-02T00:00:00Z, P0D, 2678400",
        "MONTH, 2026-11-20T00:00:00Z, P60D, 2592000",
        "DAY, 2026-10-25T10:00:00Z, PT13H, 90000",
        "DAY, 2026-03-29T10:00:00Z, PT12H, 82800",
        "YEAR, 2028-03-29T10:00:00Z, P0D, 31622400"
    })
    void windowOfACalendarIsThePresentOne(CalendarUnit unit, Instant now, Duration resetAfter, long window) {
        RateLimit limit = RateLimit.named("quota")
                .algorithm(Algorithm.FIXED_WINDOW)
                .rate("10/" + unit)
                .zone(ZoneId.of(unit == CalendarUnit.DAY ? "Europe/Berlin" : "UTC"))
                .build();
        clock.set(now.getEpochSecond() * 1_000_000);
        say(limit, allowed(10, 9, resetAfter.toSeconds() * 1_000_000));
        assertThat(fields(HeaderFormat.IETF))
                .containsEntry("RateLimit-Policy", "\"quota\";q=10;w=" + window)
                .containsEntry("RateLimit", "\"quota\";r=9;t=" + resetAfter.toSeconds());
    }

    @Test
    void ofSeveralCallsTheTighterIsSaid() {
        say(QUOTES, allowed(20, 3, 1_700_000));
        say(QUOTES, allowed(20, 12, 800_000));
        assertThat(fields(HeaderFormat.IETF)).containsEntry("RateLimit", "\"quotes\";r=3;t=2");
        say(QUOTES, rejected(20, 4, 7_000_000));
        say(QUOTES, allowed(20, 2, 1_700_000));
        assertThat(fields(HeaderFormat.IETF)).containsEntry("RateLimit", "\"quotes\";r=4;t=7");
    }

    @Test
    void legacyFieldsAreThoseOfTheTightestLimit() {
        say(List.of(DAILY, QUOTES), List.of(allowed(1_000, 11, 86_400_000_000L), allowed(20, 12, 800_000)));
        assertThat(fields(HeaderFormat.LEGACY)).isEqualTo(legacy(1_000, 11, 86_400));
        say(QUOTES, rejected(20, 13, 2_000_000));
        assertThat(fields(HeaderFormat.LEGACY)).isEqualTo(legacy(20, 13, 2));
    }

    @Test
    void bothAreBothAndNoneIsNone() {
        say(QUOTES, allowed(20, 12, 800_000));
        Map<String, String> both = new LinkedHashMap<>(fields(HeaderFormat.IETF));
        both.putAll(fields(HeaderFormat.LEGACY));
        assertThat(fields(HeaderFormat.BOTH)).isEqualTo(both).hasSize(5);
        assertThat(fields(HeaderFormat.NONE)).isEmpty();
    }

    @Test
    void limitInDryRunIsNotSeen() {
        say(List.of(TestLimits.dryRun(DAILY), QUOTES), List.of(rejected(1_000, 0, 1), allowed(20, 12, 800_000)));
        assertThat(fields(HeaderFormat.BOTH))
                .containsEntry("RateLimit-Policy", "\"quotes\";q=20;w=2")
                .containsEntry("RateLimit", "\"quotes\";r=12;t=1")
                .containsEntry("X-RateLimit-Limit", "20");
    }

    @Test
    void withoutADecisionThereAreNoFields() {
        say(TestLimits.dryRun(QUOTES), allowed(20, 12, 800_000));
        assertThat(fields(HeaderFormat.BOTH)).isEmpty();
    }

    @Test
    void newsAreToldOnce() {
        say(QUOTES, allowed(20, 12, 800_000));
        assertThat(statuses.allIfChanged()).hasSize(1);
        assertThat(statuses.allIfChanged()).isEmpty();
        say(DAILY, allowed(1_000, 12, 800_000));
        assertThat(statuses.allIfChanged()).hasSize(2);
    }

    private void say(RateLimit limit, RateLimitDecision decision) {
        say(List.of(limit), List.of(decision));
    }

    private void say(List<RateLimit> limits, List<RateLimitDecision> decisions) {
        statuses.add(limits.stream().map(limit -> new Charge(limit, "alice", 1)).toList(), decisions);
    }

    private Map<String, String> fields(HeaderFormat headers) {
        Map<String, String> fields = new LinkedHashMap<>();
        new RateLimitHeaders(headers, clock).write(statuses.all(), fields::put);
        fields.forEach((name, value) -> {
            if (name.startsWith("RateLimit")) {
                assertThat(StructuredFields.list(value)).isNotEmpty();
            }
        });
        return fields;
    }

    private static Map<String, String> legacy(long limit, long remaining, long reset) {
        return Map.of(
                "X-RateLimit-Limit", Long.toString(limit),
                "X-RateLimit-Remaining", Long.toString(remaining),
                "X-RateLimit-Reset", Long.toString(reset));
    }

    private static RateLimitDecision allowed(long capacity, long remaining, long resetMicros) {
        return RateLimitDecision.ofMicros(capacity, remaining, 0, 0, resetMicros);
    }

    private static RateLimitDecision rejected(long capacity, long remaining, long retryMicros) {
        return RateLimitDecision.ofMicros(capacity, remaining, 0, retryMicros, 8_000_001);
    }
}
