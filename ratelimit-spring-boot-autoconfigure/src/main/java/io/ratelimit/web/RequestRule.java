package io.ratelimit.web;

import java.util.Set;
import java.util.stream.Collectors;

/**
 * A rule for URLs, as configured.
 *
 * @param property the rule's property, such as {@code ratelimit.http[0]}
 * @param path a path pattern, as for handlers
 * @param methods the HTTP methods; empty for all
 * @param limit the name of the limit that matching requests are charged to
 */
public record RequestRule(String property, String path, Set<String> methods, String limit) {

    /** Returns {@code POST /login}, or the path alone. */
    String describe() {
        return methods.isEmpty() ? path : methods.stream().sorted().collect(Collectors.joining(",")) + " " + path;
    }
}
