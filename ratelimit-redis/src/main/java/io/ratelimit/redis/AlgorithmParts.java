package io.ratelimit.redis;

import io.ratelimit.Internal;
import io.ratelimit.RateLimitAlgorithm;
import io.ratelimit.RateLimitConfigurationException;
import io.ratelimit.internal.limit.LimitNames;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Adds the Lua parts of an application's algorithms to the text of the script, each as a string that a run compiles. */
@Internal
public final class AlgorithmParts {

    static final String FILE = "own_algorithms.lua";

    private static final String CHECK = "check_algorithm.lua";

    private AlgorithmParts() {}

    /** Returns the name by which the script knows the algorithm. */
    public static String name(RateLimitAlgorithm algorithm) {
        return LimitNames.canonical(algorithm.name());
    }

    /**
     * Returns a script that tries the algorithm, see {@code check_algorithm.lua}. It reads and writes no key; its first argument is
     * the {@link #name}.
     */
    public static String checkScript(RateLimitAlgorithm algorithm) {
        return checkScript(algorithm, RateLimitScript.read(CHECK));
    }

    /**
     * Returns a script that does something else with the algorithm.
     *
     * @param end Lua behind the parts, for which {@code own_algorithm(name)} returns the functions of the algorithm
     */
    public static String checkScript(RateLimitAlgorithm algorithm, String end) {
        return RateLimitScript.text(RateLimitScript.PARTS, texts(List.of(algorithm)), end);
    }

    /** Returns the texts behind those of the script's parts; none if the application has no algorithms. */
    static List<String> texts(Collection<? extends RateLimitAlgorithm> algorithms) {
        return algorithms.isEmpty() ? List.of() : List.of(sources(algorithms), RateLimitScript.read(FILE));
    }

    private static String sources(Collection<? extends RateLimitAlgorithm> algorithms) {
        List<String> sources = new ArrayList<>();
        for (RateLimitAlgorithm algorithm : algorithms) {
            sources.add("  [" + quoted(name(algorithm)) + "] = " + quoted(source(algorithm)) + ",\n");
        }
        sources.sort(null);
        return "local own_parts = {\n" + String.join("", sources) + "}\n";
    }

    private static String source(RateLimitAlgorithm algorithm) {
        String source;
        try {
            source = algorithm.luaPart();
        } catch (RuntimeException ex) {
            throw mistake(algorithm, "must be readable (" + ex.getMessage() + ")", ex);
        }
        if (source == null || source.isBlank()) {
            throw mistake(algorithm, "must not be empty", null);
        }
        return source;
    }

    private static RateLimitConfigurationException mistake(
            RateLimitAlgorithm algorithm, String rule, @Nullable Throwable cause) {
        return new RateLimitConfigurationException(
                "the Lua part of algorithm '" + algorithm.name() + "' ("
                        + algorithm.getClass().getName() + ") " + rule + ".",
                "Add the resource, or return the text from luaPart(). Without Redis, set ratelimit.store=in-memory.",
                cause);
    }

    /** Quotes text for Lua, which has strings of bytes. */
    private static String quoted(String text) {
        StringBuilder quoted = new StringBuilder("\"");
        for (byte b : text.getBytes(StandardCharsets.UTF_8)) {
            if (b == '\n') {
                quoted.append("\\n");
            } else if (b == '"' || b == '\\' || b < ' ' || b == 127) {
                quoted.append('\\').append(String.format("%03d", b & 0xff));
            } else {
                quoted.append((char) b);
            }
        }
        return quoted.append('"').toString();
    }
}
