package io.ratelimit.limiter;

import io.ratelimit.LimitNames;
import io.ratelimit.LimitOverrides;
import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitConfigurationException;
import io.ratelimit.RateLimitSettings;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Holds all limits by name. Two declarations of the same name must agree, or the startup fails. */
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
     * Declares the limit of a bean, with the overrides of the configuration.
     *
     * @throws RateLimitConfigurationException if the overrides are invalid or the name is taken
     */
    public RateLimit declare(RateLimit limit, String place) {
        try {
            return declare(limit.with(settings), place, true);
        } catch (RateLimitConfigurationException ex) {
            throw ex.at(place);
        }
    }

    /**
     * Declares a limit, or returns the declared one that it agrees with.
     *
     * @param place the method, bean or property that declares it, for messages
     * @param named whether the name is explicit: only then may several declarations share the limit
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

    public List<String> names() {
        return limits().stream().map(RateLimit::name).toList();
    }

    /** Lists the names in a sentence, for messages. */
    public String known() {
        return names().isEmpty() ? "There are no limits." : "Known limits: " + String.join(", ", names()) + ".";
    }

    /**
     * Returns the limit of this name, and declares it by the configuration alone if necessary.
     *
     * @throws RateLimitConfigurationException if the configuration cannot declare it
     */
    public RateLimit configured(String name) {
        return find(name).orElseGet(() -> declareConfigured(settings.overrides(name)));
    }

    /**
     * Declares the limits that only the configuration declares. Called when all other limits are declared.
     *
     * @return these limits
     * @throws RateLimitConfigurationException if overrides refer to a limit that does not exist
     */
    public synchronized List<RateLimit> complete() {
        settings.limits().keySet().forEach(this::configured);
        return declarations.values().stream()
                .filter(known -> known.place.equals(
                        settings.overrides(known.limit.name()).property()))
                .map(Declaration::limit)
                .toList();
    }

    private RateLimit declareConfigured(LimitOverrides overrides) {
        String name = overrides.limitName();
        if (overrides.rate() == null) {
            throw new RateLimitConfigurationException(
                    overrides.property() + " must name a declared limit, or have a rate.",
                    LimitNames.didYouMean(name, names(), nearest -> "ratelimit.limits." + nearest)
                            + "With a rate, it declares a limit itself. " + known());
        }
        return declare(RateLimit.named(name).apply(settings).build(), overrides.property(), true);
    }

    private record Declaration(RateLimit limit, String place, boolean named) {}
}
