package io.ratelimit.web;

import io.ratelimit.RateLimitConfigurationException;
import io.ratelimit.expression.RequestLimit;
import io.ratelimit.expression.RequestLimits;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.http.server.PathContainer;
import org.springframework.web.util.pattern.PathPattern;
import org.springframework.web.util.pattern.PathPattern.PathMatchInfo;
import org.springframework.web.util.pattern.PathPatternParser;
import org.springframework.web.util.pattern.PatternParseException;

/** A rule, parsed: tells its requests from others. */
final class RequestMatcher {

    private static final Pattern VARIABLE = Pattern.compile("\\{\\*?(\\w+)");

    private final PathPattern pattern;

    private final Set<String> methods;

    private final boolean hasVariables;

    private final RequestLimit limit;

    private final RequestMatch withoutVariables;

    /** @throws RateLimitConfigurationException if there is no such pattern, or no such limit */
    RequestMatcher(RequestRule rule, PathPatternParser parser, RequestLimits limits) {
        this.pattern = parse(rule, parser);
        this.methods = rule.methods().stream()
                // What answers a GET answers a HEAD.
                .flatMap(method -> method.equals("GET") ? Stream.of("GET", "HEAD") : Stream.of(method))
                .collect(Collectors.toUnmodifiableSet());
        List<String> variables = VARIABLE.matcher(rule.path())
                .results()
                .map(found -> found.group(1))
                .toList();
        this.hasVariables = !variables.isEmpty();
        this.limit = limits.create(rule.limit(), rule.property(), variables);
        this.withoutVariables = new RequestMatch(limit, Map.of());
    }

    private static PathPattern parse(RequestRule rule, PathPatternParser parser) {
        try {
            return parser.parse(parser.initFullPathPattern(rule.path()));
        } catch (PatternParseException ex) {
            throw new RateLimitConfigurationException(
                    rule.property() + ".path must be a path pattern (was \"" + rule.path() + "\"): " + ex.getMessage()
                            + ".",
                    "Write it as in @RequestMapping, such as \"/api/**\" or \"/tenants/{tenant}/**\".",
                    ex);
        }
    }

    /** Whether a handler's pattern is among the rule's paths. */
    boolean isFor(String handler) {
        return pattern.matches(PathContainer.parsePath(handler));
    }

    RequestLimit limit() {
        return limit;
    }

    /**
     * What the rule makes of a request.
     *
     * @param method whatever its case: a handler for all methods may be asked by any
     * @param preflight whether a browser asks for a script of another origin: only a rule that names OPTIONS is about it
     * @param paths the request's, in all the ways that somebody behind may read it
     * @return {@code null} if the rule says nothing about the request
     */
    @Nullable
    RequestMatch match(String method, boolean preflight, List<PathContainer> paths) {
        if (methods.isEmpty() ? preflight : !methods.contains(method.toUpperCase(Locale.ROOT))) {
            return null;
        }
        for (PathContainer path : paths) {
            if (!hasVariables) {
                if (pattern.matches(path)) {
                    return withoutVariables;
                }
                continue;
            }
            PathMatchInfo match = pattern.matchAndExtract(path);
            if (match != null) {
                return new RequestMatch(limit, match.getUriVariables());
            }
        }
        return null;
    }
}
