package io.ratelimit.web;

import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitConfigurationException;
import io.ratelimit.expression.ChargeDescription;
import io.ratelimit.expression.LimitOperations;
import io.ratelimit.internal.limiter.JointLimits;
import io.ratelimit.web.MatchedRequest.Match;
import java.lang.System.Logger.Level;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.http.server.PathContainer;
import org.springframework.web.util.pattern.PathPatternParser;

/** Matches requests with the configured URL rules. */
public final class RequestRuleMapping {

    private static final System.Logger logger = System.getLogger("io.ratelimit.web");

    private final List<RequestRule> rules;

    private final LimitOperations limits;

    private final Supplier<PathPatternParser> parser;

    private final Supplier<List<String>> probes;

    private final Map<RuleOrder, Integer> filterOrders;

    private final boolean userIsUnknown;

    /** Empty until {@link #start}. */
    private volatile Map<RuleOrder, List<RequestMatcher>> matchers = Map.of();

    /**
     * Creates rules that match no request until {@link #start}.
     *
     * @param parser the parser that the application's handlers use, so that both read a path alike
     * @param probes the paths at which an orchestrator probes this instance
     * @param filterOrders the order of the filter for the rules of each order
     * @param userIsUnknown whether Spring Security authenticates the user after {@link RuleOrder#BEFORE_SECURITY}
     */
    public RequestRuleMapping(
            List<RequestRule> rules,
            LimitOperations limits,
            Supplier<PathPatternParser> parser,
            Supplier<List<String>> probes,
            Map<RuleOrder, Integer> filterOrders,
            boolean userIsUnknown) {
        this.rules = List.copyOf(rules);
        this.limits = limits;
        this.parser = parser;
        this.probes = probes;
        this.filterOrders = filterOrders;
        this.userIsUnknown = userIsUnknown;
    }

    /**
     * Parses and enables the rules, once all limits are declared and before there are requests.
     *
     * @return the requests of each limit, by the limit's name, and what each is charged
     * @throws RateLimitConfigurationException if a rule is invalid
     */
    public Map<String, Map<String, ChargeDescription>> start() {
        List<String> paths = probes.get();
        List<RequestMatcher> all = new ArrayList<>();
        Map<String, Map<String, ChargeDescription>> requests = new TreeMap<>();
        for (RequestRule rule : rules) {
            if (limits.mayBeElsewhere(rule.limit())) {
                logger.log(
                        Level.WARNING,
                        "URL rule " + rule.property()
                                + " is not applied (no bean of this application context declares the" + " limit '"
                                + rule.limit() + "')");
                continue;
            }
            RequestMatcher matcher = new RequestMatcher(rule, parser.get(), paths, limits, userIsUnknown);
            requests.computeIfAbsent(matcher.limitName(), name -> new LinkedHashMap<>())
                    .put(rule.describe(), matcher.operation().describe());
            all.stream().filter(matcher::overlaps).forEach(earlier -> check(rule, earlier, matcher));
            all.add(matcher);
        }
        matchers = all.stream()
                .collect(Collectors.groupingBy(
                        RequestMatcher::order, () -> new EnumMap<>(RuleOrder.class), Collectors.toList()));
        return requests;
    }

    private void check(RequestRule rule, RequestMatcher earlier, RequestMatcher matcher) {
        if (earlier.order() == matcher.order()) {
            JointLimits.check(
                    limits.catalog(),
                    List.of(earlier.operation().effective(), matcher.operation().effective()),
                    rule.property());
        } else if (earlier.limitName().equals(matcher.limitName())
                && !earlier.leavesTo(matcher)
                && !matcher.leavesTo(earlier)) {
            throw new RateLimitConfigurationException(
                    rule.property() + ".order must be that of the other rule for the same requests and the limit '"
                            + rule.limit() + "', which charges a request once.",
                    "Give both rules the same order, or each a limit of its own.");
        }
    }

    /**
     * Returns the limits of the rules that match all requests of a handler.
     *
     * @param handlerPattern a path pattern, whose variables match variables and wildcards of a rule
     */
    public List<RateLimit> limits(String method, String handlerPattern) {
        List<PathContainer> paths = List.of(PathContainer.parsePath(handlerPattern));
        return Stream.of(RuleOrder.values())
                .flatMap(order -> match(order, method, false, paths).matches().stream())
                .map(match -> match.operation().limit())
                .distinct()
                .toList();
    }

    /** Returns the order of the filter that applies these rules. */
    public int filterOrder(RuleOrder order) {
        return filterOrders.getOrDefault(order, 0);
    }

    /** Whether there are rules that are applied then. */
    public boolean hasRules(RuleOrder order) {
        return matchers.containsKey(order);
    }

    /**
     * Finds the rules for a request.
     *
     * @param order of the rules that are compared
     * @param preflight whether it is a CORS preflight request
     * @param paths the request's path in all the readings of filters and handlers
     */
    public MatchedRequest match(RuleOrder order, String method, boolean preflight, List<PathContainer> paths) {
        @Nullable List<Match> matches = null;
        for (RequestMatcher matcher : matchers.getOrDefault(order, List.of())) {
            Match match = matcher.operation().isEnabled() ? matcher.match(method, preflight, paths) : null;
            if (match != null) {
                matches = matches == null ? new ArrayList<>(2) : matches;
                matches.add(match);
            }
        }
        return matches == null ? MatchedRequest.NONE : new MatchedRequest(matches);
    }
}
