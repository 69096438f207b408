package io.ratelimit.web;

import io.ratelimit.RateLimitConfigurationException;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * A rule for URLs, as configured.
 *
 * @param property the rule's property, such as {@code ratelimit.http[0]}
 * @param path a path pattern, as for handlers
 * @param methods the HTTP methods; empty for all
 * @param limit the name of the limit that matching requests are charged to
 * @param order when the rule is applied; {@code null}: what its expressions read determines that
 */
public record RequestRule(
        String property,
        String path,
        Set<String> methods,
        String limit,
        @Nullable RuleOrder order) {

    /** Matches a variable, whose regular expression may contain anything. */
    private static final Pattern VARIABLE = Pattern.compile("\\{([^{}]|\\{[^{}]*})*}");

    /** What no path means, although a path pattern can have it. */
    private enum PathMistake {
        LIST("^/[^,]*(,\\s*/[^,]*)+$", "it lists several paths", "Give each path a rule of its own."),
        BLANK("^\\s|\\s$", "it begins or ends with a blank", "Remove the blank."),
        HOST("^(\\w+:)?//", "it names a host", "Write the path alone, such as \"/api/**\"."),
        QUERY("\\?[a-zA-Z]\\w*=[^/]*$", "it has a query string", "Write the path alone, such as \"/api/**\".");

        private final Pattern found;

        private final String problem;

        private final String fix;

        PathMistake(String found, String problem, String fix) {
            this.found = Pattern.compile(found);
            this.problem = problem;
            this.fix = fix;
        }
    }

    /** @throws RateLimitConfigurationException if the path is not one path */
    public RequestRule {
        String literals = VARIABLE.matcher(path).replaceAll("{}");
        for (PathMistake mistake : PathMistake.values()) {
            if (mistake.found.matcher(literals).find()) {
                throw new RateLimitConfigurationException(
                        property + ".path must be a path pattern (was \"" + path + "\"): " + mistake.problem + ".",
                        mistake.fix);
            }
        }
    }

    /** Returns {@code POST /login}, or the path alone. */
    String describe() {
        return methods.isEmpty() ? path : methods.stream().sorted().collect(Collectors.joining(",")) + " " + path;
    }
}
