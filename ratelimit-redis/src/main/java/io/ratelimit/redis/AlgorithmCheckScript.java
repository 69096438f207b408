package io.ratelimit.redis;

import io.ratelimit.Internal;
import io.ratelimit.RateLimitAlgorithm;
import java.util.List;

/** A script that tries the Lua part of an application's algorithm, see {@code check_algorithm.lua}. It reads and writes no key. */
@Internal
public final class AlgorithmCheckScript {

    private static final String FILE = "check_algorithm.lua";

    private AlgorithmCheckScript() {}

    /** Returns the text of the script. Its first argument is the {@link #name}. */
    public static String text(RateLimitAlgorithm algorithm) {
        return text(algorithm, RateLimitScript.read(FILE));
    }

    /**
     * Returns a script that does something else with the algorithm.
     *
     * @param end Lua behind the parts, for which {@code own_algorithm(name)} returns the functions of the algorithm
     */
    public static String text(RateLimitAlgorithm algorithm, String end) {
        return RateLimitScript.text(RateLimitScript.PARTS, AlgorithmParts.texts(List.of(algorithm)), end);
    }

    /** Returns the name by which scripts know the algorithm. */
    public static String name(RateLimitAlgorithm algorithm) {
        return AlgorithmParts.name(algorithm);
    }
}
