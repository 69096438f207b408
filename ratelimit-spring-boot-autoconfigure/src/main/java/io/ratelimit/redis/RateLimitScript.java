package io.ratelimit.redis;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.stream.Collectors;
import org.springframework.data.redis.core.script.DefaultRedisScript;
import org.springframework.data.redis.core.script.RedisScript;

/** Puts the one script together: what most calls need, the state, a kind of counting a file, the decision. */
public final class RateLimitScript {

    private static final List<String> PARTS = List.of(
            "arithmetic.lua",
            "quick.lua",
            "bucket.lua",
            "kinds.lua",
            "unusual.lua",
            "storage.lua",
            "token_bucket.lua",
            "interval.lua",
            "fixed_window.lua",
            "sliding_window.lua",
            "sliding_window_log.lua",
            "call.lua",
            "give_back.lua",
            "decide.lua");

    private RateLimitScript() {}

    @SuppressWarnings({"rawtypes", "unchecked"})
    public static RedisScript<List<Long>> load() {
        return (RedisScript) new DefaultRedisScript<>(text(), List.class);
    }

    static String text() {
        return PARTS.stream().map(RateLimitScript::read).collect(Collectors.joining("\n"));
    }

    private static String read(String part) {
        try (InputStream in = RateLimitScript.class.getResourceAsStream(part)) {
            if (in == null) {
                throw new IllegalStateException("io/ratelimit/redis/" + part + " is missing from the class path");
            }
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }
}
