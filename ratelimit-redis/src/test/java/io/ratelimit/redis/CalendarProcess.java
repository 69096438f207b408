package io.ratelimit.redis;

import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitDecision;
import io.ratelimit.redis.store.TestStores;
import io.ratelimit.spi.Charge;
import io.ratelimit.spi.RateLimitStore;
import io.ratelimit.testing.ChildJvm;
import io.ratelimit.testing.TestClock;
import io.ratelimit.testing.TestLimits;
import io.ratelimit.testing.redis.StartedConnections;
import java.io.IOException;
import java.util.HashMap;
import java.util.Map;

/** An instance in a JVM of its own that takes permits of calendar windows at times that the test tells. */
final class CalendarProcess {

    private CalendarProcess() {}

    /**
     * Takes permits, as the test says.
     *
     * @param args host, port, and key prefix
     */
    public static void main(String[] args) throws IOException {
        TestClock clock = new TestClock();
        RateLimitStore store = TestStores.over(
                new FakeTimeScriptExecutor(StartedConnections.to(args[0], Integer.parseInt(args[1])), clock), args[2]);
        Map<String, RateLimit> limits = new HashMap<>();
        ChildJvm.answerAll(line -> {
            String[] words = line.split(" ", -1);
            if (words[0].equals("update")) {
                OtherTimeZoneDatabase.update(
                        words[1].equals("real") ? OtherTimeZoneDatabase.REAL : OtherTimeZoneDatabase.ENDLESS_SUMMER);
                return line;
            }
            clock.set(Long.parseLong(words[0]));
            RateLimit limit = limits.computeIfAbsent(
                    words[1] + " " + words[2],
                    absent -> TestLimits.calendarWindow(words[1], words[2], OtherTimeZoneDatabase.BERLIN));
            RateLimitDecision decision =
                    store.decide(new Charge(limit, "alice", 1)).await().decision();
            return decision.allowed() + " " + decision.remaining() + " " + decision.resetAfter();
        });
    }
}
