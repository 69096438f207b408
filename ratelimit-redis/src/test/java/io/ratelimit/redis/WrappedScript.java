package io.ratelimit.redis;

import io.ratelimit.RateLimitAlgorithm;
import io.ratelimit.redis.connection.TestExecutors;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.core.script.DefaultRedisScript;
import org.springframework.data.redis.core.script.RedisScript;

/**
 * The script in a test's own Lua, which sets its clock and sees its commands.
 *
 * <p>The Lua before the script can replace {@code on_command}, through which each command but a set clock's {@code TIME}
 * goes. The Lua after it runs the script by {@code decide(KEYS, ARGV)} and returns the reply; {@code now}, microseconds,
 * is what the script reads as the time, unless it is {@code nil}.
 */
public final class WrappedScript {

    /** While a library is loaded, Redis 7.0 shows it none of what its functions use. */
    private static final String SERVER = """
            local library = redis
            local function provided() return redis end
            local server = {
              call = function(...) return provided().call(...) end,
              pcall = function(...) return provided().pcall(...) end,
            }
            """;

    private static final String BEFORE = """
            local now
            local function on_command(call, ...) return call(...) end
            local function over(call)
              return function(command, ...)
                if command == 'TIME' and now then
                  return {string.format('%.0f', math.floor(now / 1000000)), string.format('%06.0f', now % 1000000)}
                end
                return on_command(call, command, ...)
              end
            end
            local redis = {call = over(server.call), pcall = over(server.pcall)}
            """;

    private WrappedScript() {}

    public static RedisScript<List<Long>> of(String before, String after) {
        return of(RateLimitScript.scriptParts(), before, after);
    }

    public static RedisScript<List<Long>> of(List<String> parts, String before, String after) {
        return of(parts, before, after, List.of());
    }

    @SuppressWarnings({"rawtypes", "unchecked"})
    public static RedisScript<List<Long>> of(
            List<String> parts, String before, String after, List<RateLimitAlgorithm> algorithms) {
        String text = SERVER + BEFORE + before + "local function decide(KEYS, ARGV)\n"
                + RateLimitScript.text(parts, AlgorithmParts.texts(algorithms), RateLimitScript.END) + "\nend\n"
                + after;
        return (RedisScript) new DefaultRedisScript<>(text, List.class);
    }

    /** Returns a library with a function of the library's name that does the same. */
    static String library(String name, String before, String after) {
        return library(name, before, after, List.of());
    }

    static String library(String name, String before, String after, List<RateLimitAlgorithm> algorithms) {
        return "#!lua name=" + name + "\n" + SERVER + BEFORE + before
                + RateLimitScript.text(
                        RateLimitScript.PARTS,
                        AlgorithmParts.texts(algorithms),
                        "local decide = " + RateLimitLibrary.RUN + "\n")
                + "library.register_function('" + name + "', function(KEYS, ARGV)\n" + after + "\nend)\n";
    }

    static RateLimitScriptExecutor executor(RedisConnectionFactory connections, String before, String after) {
        return executor(connections, before, after, List.of());
    }

    static RateLimitScriptExecutor executor(
            RedisConnectionFactory connections, String before, String after, List<RateLimitAlgorithm> algorithms) {
        RedisScript<List<Long>> script = of(RateLimitScript.scriptParts(), before, after, algorithms);
        // A call that does not find its script is sent again, and others could overtake it.
        try (RedisConnection connection = connections.getConnection()) {
            connection.scriptingCommands().scriptLoad(script.getScriptAsString().getBytes(StandardCharsets.UTF_8));
        }
        return TestExecutors.lettuce(connections, script, null);
    }
}
