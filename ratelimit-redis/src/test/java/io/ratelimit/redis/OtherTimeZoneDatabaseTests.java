package io.ratelimit.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitDecision;
import io.ratelimit.redis.store.TestStores;
import io.ratelimit.spi.Charge;
import io.ratelimit.spi.RateLimitStore;
import io.ratelimit.testing.ChildJvm;
import io.ratelimit.testing.LongRunning;
import io.ratelimit.testing.TestClock;
import io.ratelimit.testing.TestLimits;
import io.ratelimit.testing.TestRandom;
import io.ratelimit.testing.redis.SharedRedis;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.zone.ZoneRules;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.Timeout.ThreadMode;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** Instances share calendar windows of a zone, and their JVMs disagree about when clocks in it change. */
@Timeout(value = 120, threadMode = ThreadMode.SEPARATE_THREAD)
@LongRunning
class OtherTimeZoneDatabaseTests {

    private static final Duration HOUR = Duration.ofHours(1);

    /** In Berlin, and where summer time does not end. */
    private static final Instant NOVEMBER = Instant.parse("2026-10-31T23:00:00Z");

    private static final Instant OTHER_NOVEMBER = NOVEMBER.minus(HOUR);

    private static final Instant DECEMBER = Instant.parse("2026-11-30T23:00:00Z");

    private static final Instant OTHER_DECEMBER = DECEMBER.minus(HOUR);

    @RegisterExtension
    static final RedisUnderTest redis = new RedisUnderTest();

    private final TestClock clock = new TestClock();

    private static final String PREFIX = RedisUnderTest.newPrefix();

    @TempDir
    private static Path logs;

    private static ChildJvm other;

    private final RateLimitStore store = TestStores.over(redis.executorAt(clock), PREFIX);

    private final Random random = TestRandom.create(getClass());

    private record Taken(boolean allowed, long remaining, Duration resetAfter) {}

    /** One for all tests, whose limits have names of their own. */
    @BeforeAll
    static void start() throws IOException {
        other = ChildJvm.start(
                CalendarProcess.class,
                logs.resolve("other"),
                List.of(
                        "-Djava.time.zone.DefaultZoneRulesProvider=" + OtherTimeZoneDatabase.class.getName(),
                        "-Duser.timezone=UTC"),
                SharedRedis.get().host(),
                "" + SharedRedis.get().port(),
                PREFIX);
    }

    @BeforeEach
    void forgetUpdates() {
        other.ask("update summer");
    }

    @AfterAll
    static void stop() {
        other.close();
    }

    private Taken takeHere(RateLimit limit) {
        RateLimitDecision decision =
                store.decide(new Charge(limit, "alice", 1)).await().decision();
        return new Taken(decision.allowed(), decision.remaining(), decision.resetAfter());
    }

    private Taken takeThere(RateLimit limit) {
        String[] words = other.ask(clock.micros() + " " + limit.name() + " " + limit.rate())
                .split(" ", -1);
        return new Taken(Boolean.parseBoolean(words[0]), Long.parseLong(words[1]), Duration.parse(words[2]));
    }

    private void setClock(Instant time) {
        clock.set(time.getEpochSecond() * 1_000_000);
    }

    private Instant now() {
        return Instant.ofEpochSecond(0, clock.micros() * 1_000);
    }

    /** Returns when the window ends that a permit was taken of. */
    private Instant end(Taken taken) {
        assertThat(taken.allowed).isTrue();
        return now().plus(taken.resetAfter);
    }

    private static RateLimit monthly(String name) {
        return TestLimits.calendarWindow(name, "3/month", OtherTimeZoneDatabase.BERLIN);
    }

    @Test
    void windowEndsAsTheInstanceThatOpensItSays() {
        setClock(OTHER_NOVEMBER.plusSeconds(60));
        assertThat(end(takeHere(monthly("here")))).isEqualTo(NOVEMBER);
        assertThat(end(takeThere(monthly("here")))).isEqualTo(NOVEMBER);
        assertThat(end(takeThere(monthly("there")))).isEqualTo(OTHER_DECEMBER);
        assertThat(end(takeHere(monthly("there")))).isEqualTo(OTHER_DECEMBER);
        setClock(NOVEMBER);
        assertThat(takeHere(monthly("there")).remaining).isZero();
        assertThat(end(takeThere(monthly("here")))).isEqualTo(OTHER_DECEMBER);
        assertThat(takeHere(monthly("here")).remaining).isEqualTo(1);
    }

    /** In the hour about which they disagree, at most the capacity is taken once more. */
    @Test
    void hourThatBelongsToTwoMonthsMayHaveAWindowOfItsOwn() {
        RateLimit limit = monthly("disputed");
        setClock(NOVEMBER);
        for (int i = 0; i < 3; i++) {
            assertThat(end(takeThere(limit))).isEqualTo(OTHER_DECEMBER);
        }
        setClock(OTHER_DECEMBER.minusSeconds(1));
        assertThat(takeHere(limit).allowed).isFalse();
        setClock(OTHER_DECEMBER);
        for (int i = 0; i < 3; i++) {
            assertThat(end(i == 1 ? takeThere(limit) : takeHere(limit))).isEqualTo(DECEMBER);
        }
        assertThat(takeHere(limit).allowed).isFalse();
        assertThat(takeThere(limit).allowed).isFalse();
        setClock(DECEMBER);
        assertThat(takeThere(limit).remaining).isEqualTo(2);
    }

    @Test
    void neverMoreThanTheCapacityIsTakenBetweenTwoBeginnings() {
        playDays(false);
    }

    /** The rules of the other JVM change while windows are open, back and forth, and it still knows of some. */
    @Test
    void neverMoreThanTheCapacityIsTakenThoughRulesChangeMeanwhile() {
        playDays(true);
    }

    private void playDays(boolean updates) {
        RateLimit daily = TestLimits.calendarWindow("daily-" + updates, "5/day", OtherTimeZoneDatabase.BERLIN);
        setClock(Instant.parse("2026-10-20T12:00:00Z"));
        List<LocalDate> days = List.of();
        long taken = 0;
        int disputed = 0;
        int full = 0;
        while (now().isBefore(Instant.parse("2026-11-20T00:00:00Z"))) {
            clock.advance(Duration.ofSeconds(random.nextLong(3_600)));
            if (updates && random.nextInt(30) == 0) {
                other.ask("update " + (random.nextBoolean() ? "real" : "summer"));
            }
            List<LocalDate> shown = List.of(day(OtherTimeZoneDatabase.REAL), day(OtherTimeZoneDatabase.ENDLESS_SUMMER));
            taken = shown.equals(days) ? taken : 0;
            days = shown;
            Taken one = random.nextBoolean() ? takeHere(daily) : takeThere(daily);
            taken += one.allowed ? 1 : 0;
            full += taken == 5 ? 1 : 0;
            disputed += one.allowed && !shown.get(0).equals(shown.get(1)) ? 1 : 0;
            assertThat(taken).as("%s", now()).isLessThanOrEqualTo(5);
            assertThat(one.resetAfter).as("%s", now()).isLessThanOrEqualTo(Duration.ofHours(25));
        }
        assertThat(full).isGreaterThan(20);
        assertThat(disputed).isGreaterThan(5);
    }

    /** Returns what a calendar in Berlin shows now, by these rules. */
    private LocalDate day(ZoneRules rules) {
        return LocalDateTime.ofInstant(now(), rules.getOffset(now())).toLocalDate();
    }

    @Test
    void rulesThatChangeApplyToTheNextWindowThatIsNotKnown() {
        RateLimit limit = monthly("updated");
        setClock(NOVEMBER);
        assertThat(end(takeThere(limit))).isEqualTo(OTHER_DECEMBER);
        other.ask("update real");
        assertThat(end(takeThere(limit))).isEqualTo(OTHER_DECEMBER);
        setClock(Instant.parse("2027-03-01T00:00:00Z"));
        assertThat(end(takeThere(limit))).isEqualTo(Instant.parse("2027-03-31T23:00:00Z"));
    }
}
