package io.ratelimit.autoconfigure;

import io.ratelimit.LimitConfiguration;
import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitConfigurationException;
import io.ratelimit.RateLimitStatus.Origin;
import io.ratelimit.RateLimitStatus.Source;
import io.ratelimit.aop.LimitedBeans;
import io.ratelimit.autoconfigure.properties.RateLimitProperties;
import io.ratelimit.autoconfigure.redis.RedisServerNames;
import io.ratelimit.autoconfigure.redis.RedisServerProperties;
import io.ratelimit.autoconfigure.redis.RedisServers;
import io.ratelimit.expression.ChargeDescription;
import io.ratelimit.expression.LimitOperations;
import io.ratelimit.internal.limit.LimitNames;
import io.ratelimit.internal.limiter.CatalogRateLimiterRegistry;
import io.ratelimit.internal.limiter.CompositeRateLimitListener;
import io.ratelimit.internal.limiter.LimitCatalog;
import io.ratelimit.web.RequestRuleMapping;
import java.lang.System.Logger.Level;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.springframework.aot.AotDetector;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.context.ApplicationContext;

/** Checks the limits once all beans exist, logs where each applies, and waits for the store's warm-up. */
public final class RateLimitStartup implements SmartInitializingSingleton {

    private static final System.Logger logger = System.getLogger("io.ratelimit");

    private static final String URL_RULES = "ratelimit.http";

    private final LimitedBeans limitedBeans;

    private final LimitCatalog catalog;

    private final CompositeRateLimitListener listeners;

    private final RateLimitProperties properties;

    private final ApplicationContext context;

    /** The methods of each limit, by the limit's name, and what a call of each is charged. */
    private volatile Map<String, Map<String, ChargeDescription>> methods = Map.of();

    /** The requests of each limit, by the limit's name, and what each is charged. */
    private volatile Map<String, Map<String, ChargeDescription>> requests = Map.of();

    RateLimitStartup(
            LimitedBeans limitedBeans,
            LimitCatalog catalog,
            CompositeRateLimitListener listeners,
            RateLimitProperties properties,
            ApplicationContext context) {
        this.limitedBeans = limitedBeans;
        this.catalog = catalog;
        this.listeners = listeners;
        this.properties = properties;
        this.context = context;
    }

    @Override
    public void afterSingletonsInstantiated() {
        ObjectProvider<RedisServers> servers = context.getBeanProvider(RedisServers.class);
        LimiterConfiguration.declareBeans(context, catalog);
        methods = limitedBeans.check();
        List<RateLimit> configured = catalog.complete();
        requests = startRequestRules();
        context.getBeanProvider(CatalogRateLimiterRegistry.class).ifAvailable(CatalogRateLimiterRegistry::complete);
        List<RateLimit> limits = catalog.limits().stream()
                .sorted(Comparator.comparing(RateLimit::name))
                .toList();
        // Not a store of the application or of a parent context.
        if (!limits.isEmpty() && context.containsBeanDefinition(StoreConfiguration.DEFAULT_STORE)) {
            logger.log(
                    Level.INFO,
                    StoreConfiguration.kind(context).equals(StoreConfiguration.IN_MEMORY)
                            ? "Rate limits are counted in memory, by each instance on its own"
                            : servers.getObject().describe());
        }
        if (!StoreConfiguration.kind(context).equals(StoreConfiguration.CUSTOM)) {
            RedisServerNames names = new RedisServerNames(RedisServerProperties.names(context.getEnvironment()));
            names.check(catalog);
            names.logUnused(catalog);
        }
        catalog.addListener(limit -> limit.addCheck(catalog, this::check));
        catalog.addListener(limit -> listeners.onLimit(limit.get()));
        limits.forEach(limit -> report(limit, configured));
        servers.ifAvailable(RedisServers::await);
    }

    /** @throws RateLimitConfigurationException if there are rules, but this is not a web application */
    private Map<String, Map<String, ChargeDescription>> startRequestRules() {
        RequestRuleMapping rules =
                context.getBeanProvider(RequestRuleMapping.class).getIfAvailable();
        if (rules != null) {
            catalog.setApplied(URL_RULES);
            return rules.start();
        }
        if (!properties.http().isEmpty() && !catalog.mayBeAppliedElsewhere(URL_RULES)) {
            List<String> paths = properties.http().stream()
                    .map(RateLimitProperties.Http::path)
                    .toList();
            throw AotDetector.useGeneratedArtifacts()
                    ? new RateLimitConfigurationException(
                            "ratelimit.http must be empty if it was when AOT processing chose the beans (was " + paths
                                    + ").",
                            "Set it in the properties with which the web application is built.")
                    : new RateLimitConfigurationException(
                            "ratelimit.http must be empty in an application without Spring MVC and WebFlux (was "
                                    + paths + ").",
                            "Remove it, or add spring-boot-starter-webmvc or spring-boot-starter-webflux.");
        }
        return Map.of();
    }

    private void check(RateLimit limit) {
        checkPlans(limit);
        // A limit that only code applies has no method or URL whose check would find it.
        LimitOperations.checkSettled(limit, catalog.settings().of(limit.name()));
    }

    /** A limit that only code applies has plans by {@code RateLimiter.withPlan}. */
    private void checkPlans(RateLimit limit) {
        String property = catalog.settings().of(limit.name()).property();
        List<ChargeDescription> charges = charges(limit);
        if (limit.plans().isEmpty()
                || charges.isEmpty()
                || charges.stream().anyMatch(charge -> charge.plan() != null)
                || catalog.mayBeAppliedElsewhere(property)) {
            return;
        }
        throw new RateLimitConfigurationException(
                property
                        + ".plans must not be set without a plan-expression or a plan-resolver, because all calls have the"
                        + " limit's own numbers then (was "
                        + String.join(", ", limit.plans().keySet()) + ").",
                "Set " + property
                        + ".plan-expression or plan-resolver, or planExpression or planResolver of the annotation."
                        + " The only RateLimitPlanResolver bean applies by itself, if the limit has a key."
                        + " If only your code names plans, by RateLimiter.withPlan, set plan-expression: none.");
    }

    private List<ChargeDescription> charges(RateLimit limit) {
        return Stream.concat(methods(limit.name()).values().stream(), requests(limit.name()).values().stream())
                .toList();
    }

    /** Code that names plans may return rates with calendar units, and customizers may set the zone of all limits. */
    private void warnOfUnusedZone(RateLimit limit) {
        Origin zone = limit.definition().origins().get("zone");
        if (zone == null
                || zone.source() == Source.DEFAULT
                || zone.place().startsWith(LimitConfiguration.DEFAULTS)
                || limit.withPlans().stream().anyMatch(RateLimitStartup::hasCalendarUnit)
                || charges(limit).stream().anyMatch(charge -> charge.plan() != null)) {
            return;
        }
        logger.log(
                Level.WARNING,
                "Rate limit '" + limit.name() + "': "
                        + (zone.source() == Source.CONFIGURATION ? zone.place() : "zone") + " has no effect, because "
                        + limit + " has no calendar unit in its rate (was " + limit.zone() + ")");
    }

    private static boolean hasCalendarUnit(RateLimit limit) {
        return limit.hasRate() && limit.rate().calendarUnit() != null;
    }

    private void report(RateLimit limit, List<RateLimit> configured) {
        Map<String, ChargeDescription> called = methods(limit.name());
        Map<String, ChargeDescription> requested = requests.getOrDefault(limit.name(), Map.of());
        String line = LimitLog.describe(limit, called, requested);
        if (configured.contains(limit)) {
            String suggestion = called.isEmpty() && requested.isEmpty() ? suggestion(limit, configured) : "";
            logger.log(
                    suggestion.isEmpty() ? Level.INFO : Level.WARNING,
                    line + "; declared by the configuration alone" + suggestion);
        } else {
            logger.log(Level.INFO, line);
        }
        warnOfUnusedZone(limit);
        catalog.settings().localShare().warning(limit).ifPresent(warning -> logger.log(Level.WARNING, warning));
        if (!called.isEmpty() && !requested.isEmpty()) {
            logger.log(
                    Level.WARNING,
                    "Rate limit '" + limit.name() + "' applies to methods and to URLs: a request to such a URL that"
                            + " calls such a method is charged twice. Declare two limits with different names instead.");
        }
    }

    /** Suggests a similar name that the code declares, for a limit without methods and requests. */
    private String suggestion(RateLimit limit, List<RateLimit> configured) {
        List<String> ofTheCode = catalog.limits().stream()
                .filter(other -> !configured.contains(other))
                .map(RateLimit::name)
                .toList();
        return LimitNames.nearest(limit.name(), ofTheCode)
                .map(nearest -> "; did you mean '" + nearest + "'?")
                .orElse("");
    }

    /** Returns the methods that a limit applies to, and what a call of each is charged. */
    public Map<String, ChargeDescription> methods(String limit) {
        return methods.getOrDefault(limit, Map.of());
    }

    /** Returns the requests that a limit applies to, and what each is charged. */
    public Map<String, ChargeDescription> requests(String limit) {
        return new TreeMap<>(requests.getOrDefault(limit, Map.of()));
    }
}
