package io.ratelimit.benchmarks;

import io.lettuce.core.LettuceFutures;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisFuture;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.api.async.RedisAsyncCommands;
import io.ratelimit.benchmarks.redis.EmbeddedRedis;
import io.ratelimit.redis.RateLimitLibrary;
import io.ratelimit.redis.RateLimitScript;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * How long a decision keeps Redis busy ({@code commandstats}), as a function and as a script, beside a function that does nothing
 * but {@code TIME}, {@code GET} and {@code SET PX}: with 10,000 keys whose state stays, for runs of one call and of several. All take
 * short turns, and the fastest tenth of them counts, so other work on the machine matters little.
 *
 * <p>After {@code ./mvnw package -pl benchmarks -am -DskipTests}:
 * {@code java -cp benchmarks/target/benchmarks.jar io.ratelimit.benchmarks.ScriptBenchmark}
 */
public final class ScriptBenchmark {

    private static final int KEYS = 10_000;

    private static final int TURNS = 40;

    private static final int DECISIONS_OF_A_TURN = 600;

    private static final int[] CALLS_OF_A_RUN = {1, 16, 64, 128};

    private static final String FLOOR = """
            #!lua name=floor
            redis.register_function('floor', function(KEYS)
              redis.call('TIME')
              local replies = {}
              for i = 1, #KEYS do
                redis.call('GET', KEYS[i])
                redis.call('SET', KEYS[i], 'T1000000@1000/h:2:1795251352713710', 'PX', 3600000)
                for _ = 1, 4 do replies[#replies + 1] = 1 end
              end
              return replies
            end)
            """;

    private final RedisAsyncCommands<String, String> redis;

    private final String script;

    private final String function;

    private ScriptBenchmark(RedisAsyncCommands<String, String> redis) {
        this.redis = redis;
        this.script = await(redis.scriptLoad(RateLimitScript.load().getScriptAsString()));
        this.function = await(redis.functionLoad(RateLimitLibrary.load().text()));
        await(redis.functionLoad(FLOOR));
    }

    public static void main(String[] args) throws IOException {
        try (EmbeddedRedis server = new EmbeddedRedis()) {
            RedisClient client = RedisClient.create(server.address().uri());
            try {
                new ScriptBenchmark(client.connect().async()).measure();
            } finally {
                client.shutdown();
            }
        }
    }

    private void measure() {
        Map<String, List<String>> workloads = new LinkedHashMap<>();
        workloads.put("token bucket", List.of("T1000000@1000/h"));
        workloads.put("leaky bucket", List.of("T1000000@1000/h~"));
        workloads.put("fixed window", List.of("F1000000/h"));
        workloads.put("sliding window", List.of("S1000000/h"));
        workloads.put("sliding window log", List.of("L1000/h"));
        workloads.put("two limits", List.of("T1000000@1000/h", "F1000000/h"));
        System.out.println("µs a decision | calls of a run | TIME, GET, SET | function | script");
        workloads.forEach(this::measure);
    }

    private void measure(String name, List<String> limits) {
        for (int calls : CALLS_OF_A_RUN) {
            Map<String, double[]> turns = new LinkedHashMap<>();
            for (String way : List.of("floor", "function", "script")) {
                turns.put(way, new double[TURNS]);
            }
            for (int turn = 0; turn < TURNS; turn++) {
                for (Map.Entry<String, double[]> way : turns.entrySet()) {
                    way.getValue()[turn] = turn(way.getKey(), limits, calls);
                }
            }
            StringBuilder line = new StringBuilder("%s | %d".formatted(name, calls));
            for (double[] micros : turns.values()) {
                Arrays.sort(micros);
                line.append(" | %.1f".formatted(micros[TURNS / 10]));
            }
            System.out.println(line);
        }
    }

    private double turn(String way, List<String> limits, int calls) {
        int runs = Math.max(1, DECISIONS_OF_A_TURN / calls);
        await(redis.configResetstat());
        List<RedisFuture<?>> replies = new ArrayList<>(runs);
        for (int run = 0; run < runs; run++) {
            replies.add(run(way, limits, calls));
        }
        replies.forEach(ScriptBenchmark::await);
        Matcher micros = Pattern.compile("cmdstat_(?:evalsha|fcall):calls=[0-9]+,usec=([0-9]+)")
                .matcher(await(redis.info("commandstats")));
        if (!micros.find()) {
            throw new IllegalStateException("Redis has no statistics of the calls");
        }
        return Double.parseDouble(micros.group(1)) / runs / calls;
    }

    /** A run of calls for different keys. A call of one limit that equals the call before it is a comma. */
    private RedisFuture<?> run(String way, List<String> limits, int calls) {
        List<String> keys = new ArrayList<>();
        List<String> arguments = new ArrayList<>(List.of(""));
        StringBuilder codes = new StringBuilder();
        int user = ThreadLocalRandom.current().nextInt(KEYS);
        for (int call = 0; call < calls; call++) {
            for (int limit = 0; limit < limits.size(); limit++) {
                keys.add("ratelimit:{user-" + (user + 7 * call) % KEYS + "}:" + way
                        + limits.get(limit).charAt(0));
                boolean again = call > 0 && limits.size() == 1;
                codes.append(again ? ',' : limit == 0 ? '1' : '+');
                if (!again) {
                    arguments.addAll(List.of(limits.get(limit), "1"));
                }
            }
        }
        arguments.set(0, codes.toString());
        String[] names = keys.toArray(String[]::new);
        String[] values = arguments.toArray(String[]::new);
        return switch (way) {
            case "script" -> redis.evalsha(script, ScriptOutputType.MULTI, names, values);
            case "function" -> redis.fcall(function, ScriptOutputType.MULTI, names, values);
            default -> redis.fcall("floor", ScriptOutputType.MULTI, names, values);
        };
    }

    private static <T> T await(RedisFuture<T> reply) {
        return LettuceFutures.awaitOrCancel(reply, 30, TimeUnit.SECONDS);
    }
}
