package io.ratelimit.internal.limiter;

import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitConfigurationException;
import io.ratelimit.RateLimiter;
import io.ratelimit.RateLimiterRegistry;
import io.ratelimit.RateLimiterRegistry.JointDecision;
import io.ratelimit.RateLimiterRegistry.PermitRequest;
import io.ratelimit.internal.concurrent.Futures;
import io.ratelimit.internal.limit.LimitNames;
import io.ratelimit.spi.Charge;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Creates limiters for the limits of a catalog. During startup, when the catalog is still incomplete, {@link #get} accepts
 * every name; {@link #complete} checks these names later.
 */
public final class CatalogRateLimiterRegistry implements RateLimiterRegistry {

    private final LimitCatalog catalog;

    private final RateLimitGate gate;

    private final Map<String, StoreRateLimiter> limiters = new ConcurrentHashMap<>();

    private volatile boolean complete;

    public CatalogRateLimiterRegistry(LimitCatalog catalog, RateLimitGate gate) {
        this.catalog = catalog;
        this.gate = gate;
    }

    @Override
    public RateLimiter get(String name) {
        return complete ? declared(name) : unchecked(name);
    }

    @Override
    public Optional<RateLimiter> find(String name) {
        return catalog.effective(name).map(limit -> unchecked(limit.name()));
    }

    @Override
    public Set<String> names() {
        return Collections.unmodifiableSet(new LinkedHashSet<>(catalog.names()));
    }

    @Override
    public JointDecision tryAcquireAll(List<PermitRequest> requests) {
        return gate.decide(rated(requests));
    }

    @Override
    public CompletionStage<JointDecision> tryAcquireAllAsync(List<PermitRequest> requests) {
        return Futures.start(() -> gate.decideAsync(rated(requests)));
    }

    @Override
    public void acquireAll(List<PermitRequest> requests) {
        gate.enter(rated(requests));
    }

    @Override
    public CompletionStage<Void> acquireAllAsync(List<PermitRequest> requests) {
        return Futures.start(() -> gate.enterAsync(rated(requests)));
    }

    @Override
    public RateLimiter.Entry enterAll(List<PermitRequest> requests) {
        List<Charge> charges = charges(requests);
        return gate.open(charges, estimates(requests, charges));
    }

    @Override
    public CompletionStage<RateLimiter.Entry> enterAllAsync(List<PermitRequest> requests) {
        return Futures.start(() -> {
            List<Charge> charges = charges(requests);
            return gate.openAsync(charges, estimates(requests, charges));
        });
    }

    private static List<Charge> estimates(List<PermitRequest> requests, List<Charge> charges) {
        List<Charge> estimates = new ArrayList<>(0);
        for (int i = 0; i < charges.size(); i++) {
            if (requests.get(i).estimate()) {
                StoreRateLimiter.checkChargeable(charges.get(i).limit());
                estimates.add(charges.get(i));
            }
        }
        return estimates;
    }

    private List<Charge> rated(List<PermitRequest> requests) {
        List<Charge> charges = charges(requests);
        charges.forEach(charge -> StoreRateLimiter.checkRate(charge.limit()));
        for (PermitRequest request : requests) {
            if (request.estimate()) {
                throw new IllegalStateException("Limit '" + request.limitName()
                        + "': an estimate must be settled. Call enterAll instead of tryAcquireAll or acquireAll");
            }
        }
        return charges;
    }

    private List<Charge> charges(List<PermitRequest> requests) {
        if (requests.isEmpty()) {
            throw new IllegalArgumentException("requests must not be empty");
        }
        List<Charge> charges = new ArrayList<>(requests.size());
        for (PermitRequest request : requests) {
            RateLimit limit = declared(request.limitName()).limit();
            Charge charge = request.forAllCallers()
                    ? new Charge(limit, null, request.permits())
                    : Charge.keyed(limit, request.key(), request.permits());
            if (charges.stream().anyMatch(charge::isForSameBucket)) {
                throw new IllegalArgumentException("Limit '" + limit.name()
                        + "': requests must not name the same key twice; add up their permits");
            }
            charges.add(charge);
        }
        try {
            JointLimits.check(charges.stream().map(Charge::limit).toList());
        } catch (RateLimitConfigurationException ex) {
            throw new IllegalArgumentException(ex.getMessage(), ex);
        }
        return charges;
    }

    private StoreRateLimiter declared(String name) {
        // Most names are in lower case and without dashes.
        StoreRateLimiter exact = limiters.get(name);
        StoreRateLimiter known = exact != null ? exact : limiters.get(LimitNames.canonical(name));
        if (known != null) {
            return known;
        }
        var unused = catalog.require(name);
        return unchecked(name);
    }

    private StoreRateLimiter unchecked(String name) {
        return limiters.computeIfAbsent(
                LimitNames.canonical(name), id -> new StoreRateLimiter(name, catalog::require, gate));
    }

    /**
     * Checks the names of all limiters created so far. Called when all limits are declared.
     *
     * @throws RateLimitConfigurationException if there is no limit of such a name
     */
    public void complete() {
        complete = true;
        limiters.values().stream().map(StoreRateLimiter::name).forEach(name -> {
            if (catalog.find(name).isEmpty()) {
                throw new RateLimitConfigurationException(
                        "RateLimiterRegistry.get(\"" + name + "\") must be called with the name of a declared limit.",
                        catalog.unknown(name));
            }
        });
    }
}
