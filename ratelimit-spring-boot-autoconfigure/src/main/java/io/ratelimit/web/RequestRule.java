package io.ratelimit.web;

import java.util.Set;
import java.util.stream.Collectors;

/**
 * What the configuration says about some URLs.
 *
 * @param property where it stands, {@code ratelimit.http[0]}
 * @param path a pattern of paths, as a handler's
 * @param methods empty: all
 * @param limit the name of the limit that their requests are charged to
 */
public record RequestRule(String property, String path, Set<String> methods, String limit) {

    /** {@code POST /login}, or the path alone. */
    String describe() {
        return methods.isEmpty() ? path : methods.stream().sorted().collect(Collectors.joining(",")) + " " + path;
    }
}
