package io.ratelimit.internal.limiter;

import io.ratelimit.Algorithm;
import io.ratelimit.LimitAlgorithm;
import io.ratelimit.LimitAttributes;
import io.ratelimit.LimitConfiguration;
import io.ratelimit.RateLimitAlgorithm;
import io.ratelimit.RateLimitConfigurationException;
import io.ratelimit.internal.limit.LimitNames;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The algorithms that a limit can name: those of {@link Algorithm}, and those of the application.
 *
 * @param byName those of the application, by their names in lower case without dashes and underscores
 */
public record AlgorithmCatalog(Map<String, RateLimitAlgorithm> byName) {

    private static final String IGNORED = " Case, '-' and '_' are ignored.";

    /** No algorithms but those of {@link Algorithm}. */
    public static final AlgorithmCatalog NONE = new AlgorithmCatalog(Map.of());

    /**
     * Returns the algorithms of the application, with those of {@link Algorithm}.
     *
     * @param own by what the application calls them, such as the names of beans
     * @throws RateLimitConfigurationException if a name is invalid, or another algorithm has it
     */
    public static AlgorithmCatalog of(Map<String, RateLimitAlgorithm> own) {
        Map<String, RateLimitAlgorithm> byName = new LinkedHashMap<>();
        Map<String, String> places = new LinkedHashMap<>();
        own.forEach((place, algorithm) -> {
            String name = algorithm.name();
            if (name == null || !LimitNames.isValid(name)) {
                throw mistake(place, "consist of letters, digits, '-' and '_'", name, "");
            }
            if (builtIn(name) != null) {
                throw mistake(place, "not be that of an algorithm of the starter", name, IGNORED);
            }
            String other = places.putIfAbsent(LimitNames.canonical(name), place);
            if (other != null) {
                throw mistake(place, "not be that of the bean '" + other + "', too", name, IGNORED);
            }
            byName.put(LimitNames.canonical(name), algorithm);
        });
        return byName.isEmpty() ? NONE : new AlgorithmCatalog(byName);
    }

    private static RateLimitConfigurationException mistake(
            String place, String rule, @Nullable String name, String note) {
        return new RateLimitConfigurationException(
                "the name of the RateLimitAlgorithm bean '" + place + "' must " + rule + " (was \"" + name + "\").",
                "Return another name from name()." + note);
    }

    /** Returns the algorithm of {@link Algorithm} with this name in any spelling; {@code null}: there is none. */
    public static @Nullable Algorithm builtIn(String name) {
        String wanted = LimitNames.canonical(name.trim());
        return Arrays.stream(Algorithm.values())
                .filter(algorithm -> LimitNames.canonical(algorithm.name()).equals(wanted))
                .findFirst()
                .orElse(null);
    }

    /** Returns the algorithms of the application. */
    public Collection<RateLimitAlgorithm> own() {
        return byName.values();
    }

    public boolean isEmpty() {
        return byName.isEmpty();
    }

    /**
     * Returns the properties of a limit with the algorithm that they name, in any spelling.
     *
     * @throws RateLimitConfigurationException if there is none
     */
    LimitConfiguration resolve(LimitConfiguration properties) {
        String name = properties.ownAlgorithm();
        if (name == null) {
            return properties;
        }
        RateLimitAlgorithm found = byName.get(LimitNames.canonical(name.trim()));
        if (found == null) {
            List<String> known = new ArrayList<>();
            Arrays.stream(Algorithm.values()).map(Algorithm::name).forEach(known::add);
            byName.values().stream().map(RateLimitAlgorithm::name).sorted().forEach(known::add);
            throw new RateLimitConfigurationException(
                    properties.property() + ".algorithm must be a known value (was \"" + name + "\").",
                    LimitNames.didYouMean(name, known, nearest -> nearest) + "Known values: " + String.join(", ", known)
                            + ".");
        }
        return properties.with(LimitAttributes.ALGORITHM, LimitAlgorithm.of(found));
    }
}
