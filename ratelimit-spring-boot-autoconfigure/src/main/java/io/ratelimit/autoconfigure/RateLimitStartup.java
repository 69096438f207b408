package io.ratelimit.autoconfigure;

import io.ratelimit.CatalogRateLimiterRegistry;
import io.ratelimit.LimitCatalog;
import io.ratelimit.LimitNames;
import io.ratelimit.RateLimit;
import io.ratelimit.SafeListeners;
import io.ratelimit.aop.LimitedBeans;
import io.ratelimit.aop.LimitedBeans.LimitedMethodRecord;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Supplier;
import java.util.stream.Stream;
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

    private final SafeListeners listeners;

    private final Supplier<Map<String, List<String>>> requestLimits;

    private final Runnable connect;

    private volatile Map<String, List<String>> requests = Map.of();

    private volatile List<LimitedMethodRecord> records = List.of();

    /**
     * @param registry {@code null} if the application has one of its own
     * @param requestLimits puts the limits of URLs into force and says which they are, by the limit's name
     */
    RateLimitStartup(
            LimitedBeans limitedBeans,
            LimitCatalog catalog,
            @Nullable CatalogRateLimiterRegistry registry,
            SafeListeners listeners,
            Supplier<Map<String, List<String>>> requestLimits,
            Runnable connect) {
        this.limitedBeans = limitedBeans;
        this.catalog = catalog;
        this.registry = registry;
        this.listeners = listeners;
        this.requestLimits = requestLimits;
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
        Map<String, List<String>> methods = methods();
        Map<String, List<String>> urls = requests;
        catalog.limits().forEach(limit -> {
            listeners.onLimit(limit);
            List<String> places = Stream.of(methods, urls)
                    .flatMap(map -> map.getOrDefault(limit.name(), List.of()).stream())
                    .toList();
            log(limit, places, configured.contains(limit));
            catalog.settings().localShare().warning(limit).ifPresent(logger::warn);
            if (methods.containsKey(limit.name()) && urls.containsKey(limit.name())) {
                logger.warn(
                        "Rate limit '" + limit.name() + "' is one of methods and of URLs: a request for such a URL that"
                                + " calls such a method is charged twice. Two limits, each with a name of its own, are not.");
            }
        });
        connect.run();
    }

    /** The methods of each limit, by the limit's name. */
    Map<String, List<String>> methods() {
        Map<String, List<String>> methods = new TreeMap<>();
        records.forEach(limited -> limited.limits()
                .forEach(limit -> methods.computeIfAbsent(limit, name -> new ArrayList<>())
                        .add(limited.method())));
        return methods;
    }

    /** The requests of each limit, by the limit's name. */
    Map<String, List<String>> requests() {
        return requests;
    }

    private void log(RateLimit limit, List<String> places, boolean configured) {
        String what = "Rate limit '" + limit.name() + "': " + limit
                + (places.isEmpty() ? "" : " on " + String.join(", ", places));
        if (!configured) {
            logger.info(what);
            return;
        }
        if (!places.isEmpty()) {
            logger.info(what + ", declared by the configuration alone");
            return;
        }
        List<String> others = catalog.limits().stream()
                .map(RateLimit::name)
                .filter(name -> !name.equals(limit.name()))
                .toList();
        LimitNames.nearest(limit.name(), others)
                .ifPresentOrElse(
                        nearest -> logger.warn(
                                what + ", declared by the configuration alone; was '" + nearest + "' meant?"),
                        () -> logger.info(what + ", declared by the configuration alone"));
    }
}
