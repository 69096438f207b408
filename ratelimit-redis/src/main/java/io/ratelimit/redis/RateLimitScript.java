package io.ratelimit.redis;

import io.ratelimit.RateLimitAlgorithm;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.core.io.ClassPathResource;
import org.springframework.core.io.Resource;
import org.springframework.data.redis.core.script.DefaultRedisScript;
import org.springframework.data.redis.core.script.RedisScript;
import org.springframework.util.function.SingletonSupplier;

/**
 * Assembles the script from its parts: buckets, one part for each algorithm, the decision. For servers with functions there is
 * {@link RateLimitLibrary}.
 */
public final class RateLimitScript {

    static final List<String> PARTS = List.of(
            "run.lua",
            "arithmetic.lua",
            "fast_path.lua",
            "refund_gaps.lua",
            "bucket.lua",
            "algorithms.lua",
            "rare_state.lua",
            "storage.lua",
            "token_bucket.lua",
            "interval.lua",
            "fixed_window.lua",
            "calendar_window.lua",
            "sliding_window.lua",
            "sliding_window_log.lua",
            "concurrency.lua",
            "change.lua",
            "decide.lua");

    static final String END = "return run(KEYS, ARGV)\n";

    private RateLimitScript() {}

    public static RedisScript<List<Long>> load() {
        return load(List.of());
    }

    /**
     * Returns the script of an application with algorithms of its own.
     *
     * @throws IllegalStateException if a part is missing from the class path
     */
    public static RedisScript<List<Long>> load(Collection<? extends RateLimitAlgorithm> algorithms) {
        return load(algorithms, RedisClock.SERVER);
    }

    /**
     * Returns the script that has its time from the given clock.
     *
     * @param clock if that of instances, each run has one more argument, the last: the microseconds of the epoch
     * @throws IllegalStateException if a part is missing from the class path
     * @see #load(Collection)
     */
    public static RedisScript<List<Long>> load(Collection<? extends RateLimitAlgorithm> algorithms, RedisClock clock) {
        return load(clock == RedisClock.SERVER ? scriptParts() : clock.parts(), algorithms);
    }

    static RedisScript<List<Long>> load(List<String> parts, Collection<? extends RateLimitAlgorithm> algorithms) {
        List<String> own = AlgorithmParts.texts(algorithms);
        parts.forEach(RateLimitScript::checkExists);
        return new LazyScript(SingletonSupplier.of(() -> script(text(parts, own, END))));
    }

    @SuppressWarnings({"rawtypes", "unchecked"})
    private static RedisScript<List<Long>> script(String text) {
        return (RedisScript) new DefaultRedisScript<>(text, List.class);
    }

    /** Returns the parts of the script, which may end behind the fast path. */
    static List<String> scriptParts() {
        List<String> parts = new ArrayList<>(PARTS);
        parts.add(PARTS.indexOf("fast_path.lua") + 1, "early_end.lua");
        return parts;
    }

    /** @param own the texts behind those of the parts */
    static String text(List<String> parts, List<String> own, String end) {
        return Stream.concat(parts.stream().map(RateLimitScript::read), own.stream())
                .collect(Collectors.joining("\n", "", "\n" + end));
    }

    static String read(String part) {
        try {
            return resource(part).getContentAsString(StandardCharsets.UTF_8);
        } catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    /** Stops the start-up, because the text is assembled later. */
    static void checkExists(String part) {
        if (!resource(part).exists()) {
            throw new IllegalStateException("io/ratelimit/redis/" + part + " is missing from the class path");
        }
    }

    private static Resource resource(String part) {
        return new ClassPathResource(part, RateLimitScript.class);
    }

    /** Assembles the text when the connecting thread first asks for it, while the beans of the application are created. */
    private record LazyScript(SingletonSupplier<RedisScript<List<Long>>> script) implements RedisScript<List<Long>> {

        @Override
        public String getSha1() {
            return script.obtain().getSha1();
        }

        @Override
        public @Nullable Class<List<Long>> getResultType() {
            return script.obtain().getResultType();
        }

        @Override
        public String getScriptAsString() {
            return script.obtain().getScriptAsString();
        }
    }
}
