package io.ratelimit.redis;

import io.ratelimit.RateLimitAlgorithm;
import java.util.Collection;
import java.util.List;
import org.springframework.data.redis.core.script.DigestUtils;
import org.springframework.util.function.SingletonSupplier;

/**
 * Assembles the script's parts to a library of Redis functions, for servers that have them (Redis 7, Valkey 7.2). Its only
 * function has the same keys, arguments and reply as {@link RateLimitScript}, and is faster, because Redis compiles the library
 * and creates its functions once instead of in each run.
 *
 * <p>{@code FUNCTION LOAD} takes {@link #text()}, {@code FCALL} takes {@link #name()}. Names are global on a server, so this one
 * contains a digest of the text: versions of the starter do not replace each other's library.
 */
public final class RateLimitLibrary {

    /** What the library registers. */
    static final String RUN = "function(KEYS, ARGV) return decide_fast(KEYS, ARGV) or run(KEYS, ARGV) end";

    private static final String PREFIX = "ratelimit_";

    private static final int DIGEST_LENGTH = 16;

    /** Assembled when the connecting thread first asks for it, while the beans of the application are created. */
    private final SingletonSupplier<Code> code;

    private RateLimitLibrary(List<String> parts, List<String> own) {
        this.code = SingletonSupplier.of(() -> Code.of(RateLimitScript.text(parts, own, "")));
    }

    private record Code(String name, String text) {

        static Code of(String functions) {
            String name = PREFIX + DigestUtils.sha1DigestAsHex(functions).substring(0, DIGEST_LENGTH);
            return new Code(name, "#!lua name=" + name + "\n" + functions + end(name));
        }
    }

    public static RateLimitLibrary load() {
        return load(List.of());
    }

    /**
     * Returns the library of an application with algorithms of its own.
     *
     * @throws IllegalStateException if a part is missing from the class path
     */
    public static RateLimitLibrary load(Collection<? extends RateLimitAlgorithm> algorithms) {
        return load(algorithms, RedisClock.SERVER);
    }

    /**
     * Returns the library that has its time from the given clock.
     *
     * @throws IllegalStateException if a part is missing from the class path
     * @see RateLimitScript#load(Collection, RedisClock)
     */
    public static RateLimitLibrary load(Collection<? extends RateLimitAlgorithm> algorithms, RedisClock clock) {
        clock.parts().forEach(RateLimitScript::checkExists);
        return new RateLimitLibrary(clock.parts(), AlgorithmParts.texts(algorithms));
    }

    /** Returns the name of the library, which is also the name of its function. */
    public String name() {
        return code.obtain().name();
    }

    /** Returns the library's code. */
    public String text() {
        return code.obtain().text();
    }

    static String end(String name) {
        return "redis.register_function('" + name + "', " + RUN + ")\n";
    }
}
