package io.ratelimit.web;

import io.ratelimit.RateLimitConfigurationException;
import io.ratelimit.expression.RequestLimits;
import java.lang.System.Logger.Level;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.http.server.PathContainer;
import org.springframework.web.util.pattern.PathPatternParser;

/** Which URLs are limited, by the configuration. */
public final class RequestRules {

    private static final System.Logger logger = System.getLogger("io.ratelimit.web");

    private final List<RequestRule> rules;

    private final RequestLimits limits;

    private final Supplier<PathPatternParser> parser;

    private final Supplier<List<String>> openPaths;

    /** Those whose limit is enabled; none before the start-up is over. */
    private volatile List<RequestMatcher> matchers = List.of();

    /**
     * @param parser that of the application's handlers, so that both agree about a path
     * @param openPaths those of handlers that take every method
     */
    public RequestRules(
            List<RequestRule> rules,
            RequestLimits limits,
            Supplier<PathPatternParser> parser,
            Supplier<List<String>> openPaths) {
        this.rules = List.copyOf(rules);
        this.limits = limits;
        this.parser = parser;
        this.openPaths = openPaths;
    }

    /**
     * To be called when all limits are declared, and before there are requests.
     *
     * @return the requests of each limit, by the limit's name
     * @throws RateLimitConfigurationException if a rule cannot work
     */
    public Map<String, List<String>> start() {
        List<RequestMatcher> started = new ArrayList<>();
        Map<String, List<String>> requests = new TreeMap<>();
        for (RequestRule rule : rules) {
            RequestMatcher matcher = new RequestMatcher(rule, parser.get(), limits);
            warnOfOtherMethods(rule, matcher);
            String limit = matcher.limit().limit().name();
            requests.computeIfAbsent(limit, name -> new ArrayList<>()).add(rule.describe());
            if (matcher.limit().limit().enabled()) {
                started.add(matcher);
            }
        }
        matchers = List.copyOf(started);
        return requests;
    }

    private void warnOfOtherMethods(RequestRule rule, RequestMatcher matcher) {
        if (rule.methods().isEmpty()) {
            return;
        }
        openPaths.get().stream()
                .filter(matcher::isFor)
                .findFirst()
                .ifPresent(path -> logger.log(
                        Level.WARNING,
                        "URL rule {0} limits {1}, but the handler of {2} takes every method: requests with other methods"
                                + " are not limited. Remove {0}.methods, or name the methods of the handler.",
                        rule.property(),
                        rule.describe(),
                        path));
    }

    /**
     * Finds the rules for a request.
     *
     * @param preflight whether a browser asks what a script of another origin may do
     * @param paths the request's, in all the ways that somebody behind may read it
     */
    public MatchedRequest match(String method, boolean preflight, List<PathContainer> paths) {
        @Nullable List<RequestMatch> matches = null;
        for (RequestMatcher matcher : matchers) {
            RequestMatch match = matcher.match(method, preflight, paths);
            if (match != null) {
                matches = matches == null ? new ArrayList<>(2) : matches;
                matches.add(match);
            }
        }
        return matches == null ? MatchedRequest.NONE : new MatchedRequest(matches);
    }
}
