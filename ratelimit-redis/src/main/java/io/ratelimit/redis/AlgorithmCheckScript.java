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
        return RateLimitScript.text(
                        RateLimitScript.PARTS, AlgorithmParts.texts(List.of(algorithm)), RateLimitScript.read(FILE))
                + "\nreturn check_algorithm(ARGV)\n";
    }

    /** Returns the name by which scripts know the algorithm. */
    public static String name(RateLimitAlgorithm algorithm) {
        return AlgorithmParts.name(algorithm);
    }
}
