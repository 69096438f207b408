package io.ratelimit.web;

import io.ratelimit.RateLimitConfigurationException;
import io.ratelimit.expression.LimitOperations;
import io.ratelimit.expression.RateLimitOperation;
import io.ratelimit.web.MatchedRequest.Match;
import java.util.Collections;
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

/** A parsed rule: matches requests by method and path. */
final class RequestMatcher {

    private static final Pattern VARIABLE = Pattern.compile("\\{\\*?(\\w+)");

    private static final Pattern SEVERAL_SEGMENTS = Pattern.compile("\\*\\*|\\{\\*");

    private static final Pattern WILDCARD = Pattern.compile("[*?{]");

    private final PathPattern pattern;

    private final Set<String> methods;

    private final boolean hasVariables;

    private final RateLimitOperation operation;

    private final RuleOrder order;

    private final Match matchWithoutVariables;

    /** The paths of probes that the pattern includes and does not name. */
    private final List<PathPattern> probes;

    /**
     * Parses a rule.
     *
     * @param probes the paths of probes, to which a rule applies only if it names them
     * @param userIsUnknown whether Spring Security authenticates the user after {@link RuleOrder#BEFORE_SECURITY}
     * @throws RateLimitConfigurationException if the pattern is invalid, the limit does not exist, or no request would have a user
     *     that an expression reads
     */
    RequestMatcher(
            RequestRule rule,
            PathPatternParser parser,
            List<String> probes,
            LimitOperations limits,
            boolean userIsUnknown) {
        this.pattern = parse(rule, parser);
        this.methods = rule.methods().stream()
                // A handler for GET answers HEAD, too.
                .flatMap(method -> method.equals("GET") ? Stream.of("GET", "HEAD") : Stream.of(method))
                .collect(Collectors.toUnmodifiableSet());
        List<String> variables = VARIABLE.matcher(rule.path())
                .results()
                .map(found -> found.group(1))
                .toList();
        this.hasVariables = !variables.isEmpty();
        this.operation = limits.ofRequests(rule.limit(), rule.property(), variables);
        this.order = order(rule, userIsUnknown && operation.namesPrincipal());
        this.matchWithoutVariables = new Match(operation, Map.of());
        this.probes = probes.stream()
                .filter(probe -> !pattern.getPatternString().startsWith(probe))
                .map(probe -> parser.parse(probe + "/**"))
                .filter(probe -> overlap(segments(pattern), segments(probe)))
                .toList();
    }

    private static RuleOrder order(RequestRule rule, boolean needsSecurity) {
        if (needsSecurity && rule.order() == RuleOrder.BEFORE_SECURITY) {
            throw new RateLimitConfigurationException(
                    rule.property() + ".order must be after-security, because an expression of the limit '"
                            + rule.limit() + "' reads the principal (was before-security).",
                    "Remove it, or use a key that needs no user, such as clientIp.");
        }
        if (rule.order() != null) {
            return rule.order();
        }
        return needsSecurity ? RuleOrder.AFTER_SECURITY : RuleOrder.BEFORE_SECURITY;
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

    String limitName() {
        return operation.limit().name();
    }

    RuleOrder order() {
        return order;
    }

    /** Returns what determines the charge of a request. */
    RateLimitOperation operation() {
        return operation;
    }

    /** Returns whether a request may match both, as far as methods and the first segments of the paths show. */
    boolean overlaps(RequestMatcher other) {
        return (methods.isEmpty() || other.methods.isEmpty() || !Collections.disjoint(methods, other.methods))
                && overlap(segments(pattern), segments(other.pattern));
    }

    /** Returns whether the other rule names probes, and this one would only include them. */
    boolean leavesTo(RequestMatcher other) {
        String named = other.pattern.getPatternString() + "/";
        return probes.stream()
                .map(probe -> probe.getPatternString().replace("**", ""))
                .anyMatch(named::startsWith);
    }

    private static String[] segments(PathPattern pattern) {
        return pattern.getPatternString().replaceFirst("^/", "").split("/", -1);
    }

    private static boolean overlap(String[] one, String[] other) {
        for (int i = 0; i < Math.max(one.length, other.length); i++) {
            String first = i < one.length ? one[i] : "";
            String second = i < other.length ? other[i] : "";
            if (SEVERAL_SEGMENTS.matcher(first).lookingAt()
                    || SEVERAL_SEGMENTS.matcher(second).lookingAt()) {
                return true;
            }
            boolean literal = !WILDCARD.matcher(first + second).find();
            if (first.isEmpty() != second.isEmpty() || (literal && !first.equalsIgnoreCase(second))) {
                return false;
            }
        }
        return true;
    }

    /**
     * Matches a request.
     *
     * @param method compared without case, because a handler for all methods accepts any
     * @param preflight whether it is a CORS preflight request, which only rules that name OPTIONS match
     * @param paths the request's path in all the readings of filters and handlers
     * @return {@code null} if the rule does not match
     */
    @Nullable
    Match match(String method, boolean preflight, List<PathContainer> paths) {
        if (methods.isEmpty() ? preflight : !methods.contains(method.toUpperCase(Locale.ROOT))) {
            return null;
        }
        for (PathContainer path : paths) {
            PathMatchInfo match = hasVariables ? pattern.matchAndExtract(path) : null;
            if ((hasVariables ? match != null : pattern.matches(path)) && !isProbe(path)) {
                return match == null ? matchWithoutVariables : new Match(operation, match.getUriVariables());
            }
        }
        return null;
    }

    private boolean isProbe(PathContainer path) {
        for (PathPattern probe : probes) {
            if (probe.matches(path)) {
                return true;
            }
        }
        return false;
    }
}
