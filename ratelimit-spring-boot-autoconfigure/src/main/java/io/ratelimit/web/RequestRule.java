package io.ratelimit.web;

import java.util.Set;
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

    /** Returns {@code POST /login}, or the path alone. */
    String describe() {
        return methods.isEmpty() ? path : methods.stream().sorted().collect(Collectors.joining(",")) + " " + path;
    }
}
