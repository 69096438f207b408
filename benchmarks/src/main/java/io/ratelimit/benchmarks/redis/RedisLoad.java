package io.ratelimit.benchmarks.redis;

import io.lettuce.core.api.sync.RedisCommands;
import java.util.regex.Pattern;

/**
 * What Redis has done, by its own count.
 *
 * @param scripts how many scripts and functions it was asked to run
 * @param scriptMicros how long they took; not in it is what a peer does by commands of its own
 * @param cpuMicros of the whole process
 * @param reads how many keys were read, also in scripts: one for each decision about a bucket
 * @param received bytes from clients, those that ask for this included
 * @param sent bytes to clients, those that ask for this included
 */
public record RedisLoad(long scripts, long scriptMicros, long cpuMicros, long reads, long received, long sent) {

    public static final RedisLoad NONE = new RedisLoad(0, 0, 0, 0, 0, 0);

    /** Since the server started. */
    public static RedisLoad soFar(RedisCommands<String, String> redis) {
        String commands = redis.info("commandstats");
        String cpu = redis.info("cpu");
        String stats = redis.info("stats");
        return new RedisLoad(
                Math.round(sum(commands, "cmdstat_(?:eval|evalsha|fcall):calls=")),
                Math.round(sum(commands, "cmdstat_(?:eval|evalsha|fcall):calls=[0-9]+,usec=")),
                Math.round(sum(cpu, "used_cpu_(?:user|sys):") * 1_000_000),
                Math.round(sum(commands, "cmdstat_get:calls=")),
                Math.round(sum(stats, "total_net_input_bytes:")),
                Math.round(sum(stats, "total_net_output_bytes:")));
    }

    RedisLoad plus(RedisLoad other) {
        return new RedisLoad(
                scripts + other.scripts,
                scriptMicros + other.scriptMicros,
                cpuMicros + other.cpuMicros,
                reads + other.reads,
                received + other.received,
                sent + other.sent);
    }

    public RedisLoad since(RedisLoad before) {
        return new RedisLoad(
                scripts - before.scripts,
                scriptMicros - before.scriptMicros,
                cpuMicros - before.cpuMicros,
                reads - before.reads,
                received - before.received,
                sent - before.sent);
    }

    private static double sum(String info, String start) {
        return Pattern.compile("(?m)^" + start + "([0-9.]+)")
                .matcher(info)
                .results()
                .mapToDouble(found -> Double.parseDouble(found.group(1)))
                .sum();
    }
}
