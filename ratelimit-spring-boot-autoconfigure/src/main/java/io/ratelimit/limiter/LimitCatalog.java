package io.ratelimit.limiter;

import io.ratelimit.LimitNames;
import io.ratelimit.LimitOverrides;
import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitConfigurationException;
import io.ratelimit.RateLimitSettings;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The limits by name. Here two declarations of one name meet, and either agree or stop the start-up. */
public final class LimitCatalog {

    private final RateLimitSettings settings;

    private final Map<String, Declaration> declarations = new LinkedHashMap<>();

    public LimitCatalog(RateLimitSettings settings) {
        this.settings = settings;
    }

    public RateLimitSettings settings() {
        return settings;
    }

    /**
     * Enters what a bean declares, as the configuration wants it.
     *
     * @throws RateLimitConfigurationException if the configuration's numbers do not fit, or the name is taken
     */
    public RateLimit declare(RateLimit limit, String place) {
        try {
            return declare(limit.with(settings), place, true);
        } catch (RateLimitConfigurationException ex) {
            throw ex.at(place);
        }
    }

    /**
     * Enters a limit, or finds the one that it agrees with.
     *
     * @param place what declares it, in words that its author will recognise
     * @param named whether its author chose the name: only then may it share its limit with another
     */
    public synchronized RateLimit declare(RateLimit limit, String place, boolean named) {
        String key = LimitNames.canonical(limit.name());
        Declaration known = declarations.get(key);
        if (known == null) {
            declarations.put(key, new Declaration(limit, place, named));
            return limit;
        }
        if (!known.place.equals(place)) {
            checkShared(known, limit, place, named);
        }
        return known.limit;
    }

    private static void checkShared(Declaration known, RateLimit limit, String place, boolean named) {
        if (!named || !known.named) {
            throw new RateLimitConfigurationException(
                            "the default name '" + limit.name() + "' is also the name of the limit of " + known.place
                                    + ".",
                            "Give each its own name, or both the same explicit name to share the limit.")
                    .at(place);
        }
        if (!known.limit.agreesWith(limit)) {
            throw new RateLimitConfigurationException(
                            "name '" + limit.name() + "' is declared as " + limit + ", but " + known.place
                                    + " declares it as " + known.limit + ".",
                            "Give both the same numbers, or one of them another name.")
                    .at(place);
        }
    }

    public synchronized Optional<RateLimit> find(String name) {
        return Optional.ofNullable(declarations.get(LimitNames.canonical(name))).map(Declaration::limit);
    }

    public synchronized List<RateLimit> limits() {
        return declarations.values().stream().map(Declaration::limit).toList();
    }

    synchronized Collection<String> names() {
        return declarations.values().stream().map(known -> known.limit.name()).toList();
    }

    /**
     * The limit of this name, which the configuration alone declares if nothing else has.
     *
     * @throws RateLimitConfigurationException if the configuration does not either
     */
    public RateLimit configured(String name) {
        return find(name).orElseGet(() -> declareConfigured(settings.overrides(name)));
    }

    /**
     * To be called when all declarations are in: turns what the configuration alone declares into limits.
     *
     * @return the limits that nothing but the configuration declares
     * @throws RateLimitConfigurationException if the configuration speaks of a limit that does not exist
     */
    public List<RateLimit> complete() {
        settings.limits().keySet().forEach(this::configured);
        return settings.limits().values().stream()
                .filter(overrides -> isDeclaredAt(overrides.property(), overrides.limitName()))
                .map(overrides -> configured(overrides.limitName()))
                .toList();
    }

    private synchronized boolean isDeclaredAt(String place, String name) {
        Declaration known = declarations.get(LimitNames.canonical(name));
        return known != null && known.place.equals(place);
    }

    private RateLimit declareConfigured(LimitOverrides overrides) {
        String name = overrides.limitName();
        if (overrides.rate() == null) {
            String known =
                    names().isEmpty() ? "There are no limits." : "Known limits: " + String.join(", ", names()) + ".";
            throw new RateLimitConfigurationException(
                    overrides.property() + " must name a declared limit, or have a rate.",
                    LimitNames.nearest(name, names())
                                    .map(nearest -> "Did you mean ratelimit.limits." + nearest + "? ")
                                    .orElse("")
                            + "With a rate, it declares a limit itself. " + known);
        }
        return declare(RateLimit.named(name).apply(settings).build(), overrides.property(), true);
    }

    private record Declaration(RateLimit limit, String place, boolean named) {}
}
