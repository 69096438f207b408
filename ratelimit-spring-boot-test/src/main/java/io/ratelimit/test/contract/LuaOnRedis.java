package io.ratelimit.test.contract;

import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisURI;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.api.async.RedisAsyncCommands;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.output.StatusOutput;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.CommandType;
import io.ratelimit.RateLimitAlgorithm;
import io.ratelimit.redis.AlgorithmParts;
import io.ratelimit.redis.RateLimitLibrary;
import io.ratelimit.redis.RateLimitScript;
import io.ratelimit.redis.RateLimitScriptExecutor;
import io.ratelimit.redis.door.GuardedRedis;
import io.ratelimit.redis.store.RedisRateLimitStore;
import io.ratelimit.spi.TimeSource;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The starter's script with the Lua part of an algorithm on a Redis, at the time of the test: the script is wrapped in Lua that
 * replies its own {@code TIME}, and sees what is written.
 *
 * <p>Keys expire by that time, too, unless the test says otherwise. Their real expiry is ten minutes, so that nothing is left behind.
 */
final class LuaOnRedis implements AutoCloseable {

    private static final Duration TIMEOUT = Duration.ofSeconds(20);

    /** While a library is loaded, Redis 7.0 shows it none of what its functions use. */
    private static final String CLOCK = """
            local library = redis
            local function server() return redis end
            local now, expiring, expiry
            local EXPIRES = 'expires '
            local function forget_expired(key)
              local ends = server().call('GET', EXPIRES .. key)
              if ends and now >= tonumber(ends) then server().call('DEL', key, EXPIRES .. key) end
            end
            local function check_numbers(text)
              for number in string.gmatch(text, ':([^: ]*)') do
                assert(string.find(number, '^[%d!*]+$'), 'not only whole numbers are written: ' .. text)
              end
            end
            local function on_command(call, command, key, ...)
              if command == 'TIME' then
                return {string.format('%.0f', math.floor(now / 1000000)), string.format('%06.0f', now % 1000000)}
              end
              if expiring then forget_expired(key) end
              local arguments = {...}
              if command == 'SET' then
                check_numbers(arguments[1])
                assert(arguments[2] == 'PX', 'written without an expiry')
                expiry, arguments[3] = tonumber(arguments[3]), '600000'
                server().call('SET', EXPIRES .. key, string.format('%.0f', now + expiry * 1000), 'PX', 600000)
              end
              return call(command, key, unpack(arguments))
            end
            local redis = {
              call = function(...) return on_command(server().call, ...) end,
              pcall = function(...) return on_command(server().pcall, ...) end,
            }
            local function at_time(decide, KEYS, ARGV)
              expiring, now, expiry = table.remove(ARGV) == '1', tonumber(table.remove(ARGV)), -1
              local replies = {}
              for i, number in ipairs(decide(KEYS, ARGV)) do replies[i] = number end
              replies[#replies + 1] = expiry
              return replies
            end
            """;

    private static final String REGISTER = """
            function redis.register_function(_, decide)
              library.register_function('%s', function(KEYS, ARGV) return at_time(decide, KEYS, ARGV) end)
            end
            """;

    /**
     * Runs one function of the algorithm. ARGV is its name, the function, capacity, permits, micros, used, since, rest, now, and what
     * else the function needs.
     */
    private static final String CALL = """
            begin()
            local own, call, n = own_algorithm(ARGV[1]), ARGV[2], {}
            for i = 3, #ARGV do n[i] = tonumber(ARGV[i]) end
            local rule = {capacity = n[3], permits = n[4], micros = n[5], algorithm = own}
            local state = {rule = rule, used = n[6], since = n[7], rest = n[8], leased = 0}
            local bucket = {own = state, now = n[9]}
            if call == 'used' or call == 'reset_after' then return {own[call](state, bucket)} end
            if call == 'time_until' then return {own.time_until(state, bucket, n[10])} end
            if call == 'refund' then own.grant(state, bucket, n[10]) else own[call](state, bucket, n[10]) end
            return {state.used, state.since, state.rest}
            """;

    private final String name = "contract_" + UUID.randomUUID().toString().replace("-", "");

    private final RedisClient client;

    private final RedisAsyncCommands<byte[], byte[]> redis;

    private final RedisAsyncCommands<String, String> texts;

    private final RateLimitAlgorithm algorithm;

    private final TimeSource time;

    private final List<GuardedRedis> guards = new ArrayList<>();

    private @Nullable String checkScript;

    private volatile boolean expiring = true;

    LuaOnRedis(String url, RateLimitAlgorithm algorithm, TimeSource time) {
        RedisURI uri = RedisURI.create(url);
        uri.setTimeout(TIMEOUT);
        this.client = RedisClient.create(uri);
        this.redis = client.connect(ByteArrayCodec.INSTANCE).async();
        this.texts = client.connect(StringCodec.UTF8).async();
        this.algorithm = algorithm;
        this.time = time;
    }

    /** Has keys stay, as buckets do in memory: where the clock is set back, or numbers change, it matters what is remembered. */
    void keepKeys() {
        expiring = false;
    }

    /** Returns the stores: by a script, and by a function if the server has functions. */
    List<StoreUnderTest> stores() {
        StoreUnderTest byScript = byScript();
        try {
            return List.of(byScript, byFunction());
        } catch (CompletionException ex) {
            if (!isUnknownCommand(ex)) {
                throw ex;
            }
            System.out.println(
                    algorithm.name() + ": this Redis has no functions, so the Lua part runs as a script alone");
            return List.of(byScript);
        }
    }

    private static boolean isUnknownCommand(CompletionException ex) {
        return ex.getCause() instanceof RedisCommandExecutionException reply
                && String.valueOf(reply.getMessage()).contains("unknown command");
    }

    private StoreUnderTest byScript() {
        String text = CLOCK + "local function decide(KEYS, ARGV)\n"
                + RateLimitScript.load(List.of(algorithm)).getScriptAsString()
                + "\nend\nreturn at_time(decide, KEYS, ARGV)\n";
        String digest = await(redis.scriptLoad(text.getBytes(StandardCharsets.UTF_8)));
        return store(
                "Lua as a script", (keys, arguments) -> redis.evalsha(digest, ScriptOutputType.MULTI, keys, arguments));
    }

    private StoreUnderTest byFunction() {
        String text = RateLimitLibrary.load(List.of(algorithm)).text();
        int code = text.indexOf('\n') + 1;
        await(texts.functionLoad(
                "#!lua name=" + name + "\n" + CLOCK + REGISTER.formatted(name) + text.substring(code), true));
        return store(
                "Lua as a function", (keys, arguments) -> redis.fcall(name, ScriptOutputType.MULTI, keys, arguments));
    }

    private StoreUnderTest store(String what, Run run) {
        Executor executor = new Executor(run);
        String prefix = name + guards.size();
        GuardedRedis guarded = new GuardedRedis(executor, TIMEOUT, prefix);
        guards.add(guarded);
        return new StoreUnderTest(what, new RedisRateLimitStore(guarded, prefix), () -> executor.expiryMillis);
    }

    /** Calls one function of the Lua part, and returns its results. */
    List<Long> call(String function, long... arguments) {
        if (checkScript == null) {
            checkScript = await(texts.scriptLoad(AlgorithmParts.checkScript(algorithm, CALL)));
        }
        String[] all = Stream.concat(
                        Stream.of(AlgorithmParts.name(algorithm), function),
                        Arrays.stream(arguments).mapToObj(Long::toString))
                .toArray(String[]::new);
        return await(texts.<List<Long>>evalsha(checkScript, ScriptOutputType.MULTI, new String[0], all));
    }

    private static <T> T await(CompletionStage<T> reply) {
        return reply.toCompletableFuture()
                .orTimeout(TIMEOUT.toSeconds(), TimeUnit.SECONDS)
                .join();
    }

    @Override
    public void close() {
        guards.forEach(GuardedRedis::destroy);
        if (guards.size() > 1) {
            await(texts.dispatch(
                    CommandType.FUNCTION,
                    new StatusOutput<>(StringCodec.UTF8),
                    new CommandArgs<>(StringCodec.UTF8).add("DELETE").add(name)));
        }
        client.shutdown(Duration.ZERO, TIMEOUT);
    }

    private interface Run {

        CompletionStage<List<Long>> run(byte[][] keys, byte[][] arguments);
    }

    /** Appends the time to the arguments, and whether keys expire, and removes the expiry from the reply. */
    private final class Executor implements RateLimitScriptExecutor {

        private final Run run;

        /** Of the key that was last written; -1 if the last run wrote none. */
        private volatile long expiryMillis;

        Executor(Run run) {
            this.run = run;
        }

        @Override
        public CompletionStage<List<Long>> execute(List<byte[]> keys, byte[][] arguments) {
            byte[][] withTime = Arrays.copyOf(arguments, arguments.length + 2);
            withTime[arguments.length] = Long.toString(time.micros()).getBytes(StandardCharsets.US_ASCII);
            withTime[arguments.length + 1] = (expiring ? "1" : "0").getBytes(StandardCharsets.US_ASCII);
            return run.run(keys.toArray(byte[][]::new), withTime).thenApply(reply -> {
                int last = reply.size() - 1;
                expiryMillis = reply.get(last);
                return List.copyOf(reply.subList(0, last));
            });
        }
    }
}
