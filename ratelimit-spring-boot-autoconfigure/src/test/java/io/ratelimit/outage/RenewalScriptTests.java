package io.ratelimit.outage;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.ratelimit.RateLimiter;
import io.ratelimit.testing.LongRunning;
import io.ratelimit.testing.redis.RedisServer;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** How many scripts renew the permits that running calls hold, as Redis counts them. */
@Timeout(300)
@LongRunning
class RenewalScriptTests {

    private static final int CALLS = 2_500;

    /** A script renews a hundred calls by a command. */
    private static final int COMMANDS = CALLS / 100;

    private static final int ROUNDS = 3;

    @Test
    void oneScriptRenewsTheCallsOfAnInstance() {
        try (RedisServer redis = RedisServer.loadingAtOnce();
                Instance instance = new Instance(Stream.concat(
                                redis.properties().stream(),
                                Stream.of(
                                        "ratelimit.redis.timeout=10s",
                                        "ratelimit.on-store-failure=throw",
                                        // Figures are sent by scripts, too.
                                        "ratelimit.statistics.enabled=false",
                                        "ratelimit.limits.held.algorithm=concurrency",
                                        "ratelimit.limits.held.capacity=" + CALLS,
                                        "ratelimit.limits.held.hold=3s"))
                        .toList())) {
            RateLimiter limiter = instance.limiter("held");
            List<RateLimiter.Entry> entries =
                    Stream.generate(() -> limiter.enter("alice")).limit(CALLS).toList();
            Commands before = Commands.of(redis);
            Commands after = await("renewals")
                    .atMost(Duration.ofSeconds(60))
                    .until(() -> Commands.of(redis).since(before), done -> done.scripts >= ROUNDS);
            // A script may have been under way before, for fewer calls. If permits may have expired, it also writes
            // their sum.
            assertThat(after.writes).isBetween((after.scripts - 1) * COMMANDS, after.scripts * (COMMANDS + 1));
            entries.forEach(RateLimiter.Entry::close);
            // A renewal under way may reach Redis after the release of one of its calls, which is then released again.
            await("releases")
                    .atMost(Duration.ofSeconds(60))
                    .until(() -> limiter.peek("alice").remaining() == CALLS);
        }
    }

    /**
     * What Redis has executed.
     *
     * @param scripts that renew: each reads the sum of the permits once
     */
    private record Commands(long scripts, long writes) {

        static Commands of(RedisServer redis) {
            String statistics = (String) redis.send("INFO", "commandstats");
            return new Commands(calls(statistics, "hget"), calls(statistics, "hset"));
        }

        private Commands since(Commands before) {
            return new Commands(scripts - before.scripts, writes - before.writes);
        }

        private static long calls(String statistics, String command) {
            return statistics
                    .lines()
                    .filter(line -> line.startsWith("cmdstat_" + command + ":calls="))
                    .mapToLong(line -> Long.parseLong(line.replaceAll(".*:calls=(\\d+),.*", "$1")))
                    .sum();
        }
    }
}
