package io.ratelimit.autoconfigure;

import io.ratelimit.LimitNames;
import io.ratelimit.LimitOverrides;
import io.ratelimit.RateLimit;
import io.ratelimit.aop.LimitedBeans;
import io.ratelimit.aop.LimitedBeans.LimitedMethodRecord;
import io.ratelimit.limiter.CatalogRateLimiterRegistry;
import io.ratelimit.limiter.CompositeRateLimitListener;
import io.ratelimit.limiter.LimitCatalog;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Supplier;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.SmartInitializingSingleton;

/** Runs when all beans are there: checks what must be complete by then, and says what is limited where. */
final class RateLimitStartup implements SmartInitializingSingleton {

    private static final Log logger = LogFactory.getLog("io.ratelimit");

    private final LimitedBeans limitedBeans;

    private final LimitCatalog catalog;

    private final @Nullable CatalogRateLimiterRegistry registry;

    private final CompositeRateLimitListener listeners;

    private final Supplier<Map<String, List<String>>> requestLimits;

    private final Optional<String> store;

    private final Runnable connect;

    private volatile Map<String, List<String>> requests = Map.of();

    private volatile List<LimitedMethodRecord> records = List.of();

    /**
     * @param registry {@code null} if the application has one of its own
     * @param requestLimits puts the limits of URLs into force and says which they are, by the limit's name
     * @param store where permits are counted, for the log
     */
    RateLimitStartup(
            LimitedBeans limitedBeans,
            LimitCatalog catalog,
            @Nullable CatalogRateLimiterRegistry registry,
            CompositeRateLimitListener listeners,
            Supplier<Map<String, List<String>>> requestLimits,
            Optional<String> store,
            Runnable connect) {
        this.limitedBeans = limitedBeans;
        this.catalog = catalog;
        this.registry = registry;
        this.listeners = listeners;
        this.requestLimits = requestLimits;
        this.store = store;
        this.connect = connect;
    }

    @Override
    public void afterSingletonsInstantiated() {
        records = limitedBeans.check();
        List<RateLimit> configured = catalog.complete();
        requests = requestLimits.get();
        if (registry != null) {
            registry.complete();
        }
        List<RateLimit> limits = catalog.limits().stream()
                .sorted(Comparator.comparing(RateLimit::name))
                .toList();
        if (!limits.isEmpty()) {
            store.ifPresent(logger::info);
        }
        limits.forEach(limit -> {
            listeners.onLimit(limit);
            report(limit, configured);
        });
        connect.run();
    }

    private void report(RateLimit limit, List<RateLimit> configured) {
        List<LimitedMethodRecord> methods = records.stream()
                .filter(limited -> limited.keys().containsKey(limit.name()))
                .toList();
        List<String> ofLimit = requests.getOrDefault(limit.name(), List.of());
        String requestKey = catalog.settings().overrides(limit.name()).keyExpression();
        String line = new LimitLog(logger)
                .describe(limit, methods, ofLimit, requestKey == null ? LimitOverrides.ALL_CALLERS : requestKey);
        if (!configured.contains(limit)) {
            logger.info(line);
        } else if (!methods.isEmpty() || !ofLimit.isEmpty()) {
            logger.info(line + "; declared by the configuration alone");
        } else {
            reportUnused(limit, line, configured);
        }
        catalog.settings().localShare().warning(limit).ifPresent(logger::warn);
        if (!methods.isEmpty() && !ofLimit.isEmpty()) {
            logger.warn("Rate limit '" + limit.name() + "' applies to methods and to URLs: a request to such a URL that"
                    + " calls such a method is charged twice. Declare two limits with different names instead.");
        }
    }

    /** For the registry, or a misspelled name of what the code declares: what the configuration declares, it names. */
    private void reportUnused(RateLimit limit, String line, List<RateLimit> configured) {
        List<String> ofTheCode = catalog.limits().stream()
                .filter(other -> !configured.contains(other))
                .map(RateLimit::name)
                .toList();
        LimitNames.nearest(limit.name(), ofTheCode)
                .ifPresentOrElse(
                        nearest -> logger.warn(
                                line + "; declared by the configuration alone; did you mean '" + nearest + "'?"),
                        () -> logger.info(line + "; declared by the configuration alone"));
    }

    /** The methods of each limit, by the limit's name. */
    Map<String, List<String>> methods() {
        Map<String, List<String>> methods = new TreeMap<>();
        records.forEach(limited -> limited.keys()
                .keySet()
                .forEach(limit -> methods.computeIfAbsent(limit, name -> new ArrayList<>())
                        .add(limited.method())));
        return methods;
    }

    /** The requests of each limit, by the limit's name. */
    Map<String, List<String>> requests() {
        return requests;
    }
}
