package io.ratelimit.internal.limiter;

import static java.util.stream.Collectors.toMap;

import io.ratelimit.LimitConfiguration;
import io.ratelimit.LimitDefinition;
import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitBuilder;
import io.ratelimit.RateLimitConfigurationException;
import io.ratelimit.internal.limit.AttributeValues;
import io.ratelimit.internal.limit.LimitNames;
import io.ratelimit.spi.RateLimitCustomizer;
import java.util.List;
import java.util.Map;

/**
 * Holds the properties of all limits.
 *
 * @param defaults what applies to every limit, unless its declaration or its own properties set the attribute
 * @param localShare divides limits among instances while the store fails
 * @param limits the properties of each limit, by its name in lower case without dashes and underscores
 * @param customizers change declarations before the properties are applied
 */
public record RateLimitSettings(
        LimitConfiguration defaults,
        LocalShare localShare,
        Map<String, LimitConfiguration> limits,
        List<RateLimitCustomizer> customizers) {

    /** No properties. Each instance applies every limit in full while the store fails. */
    public static final RateLimitSettings NONE = new RateLimitSettings(
            new LimitConfiguration(LimitConfiguration.DEFAULTS, AttributeValues.NONE, null, Map.of()),
            LocalShare.WHOLE,
            Map.of(),
            List.of());

    public RateLimitSettings {
        limits = Map.copyOf(limits);
        customizers = List.copyOf(customizers);
    }

    /**
     * Returns these settings with algorithms and customizers of the application.
     *
     * @throws RateLimitConfigurationException if a property names an algorithm that does not exist
     */
    public RateLimitSettings with(AlgorithmCatalog algorithms, List<RateLimitCustomizer> all) {
        return new RateLimitSettings(
                algorithms.resolve(defaults),
                localShare,
                limits.entrySet().stream()
                        .collect(toMap(Map.Entry::getKey, each -> algorithms.resolve(each.getValue()))),
                all);
    }

    /** Returns the properties of the limit with this name, which may set nothing. */
    public LimitConfiguration of(String name) {
        LimitConfiguration found = limits.get(LimitNames.canonical(name));
        return found != null ? found : LimitConfiguration.of(name);
    }

    /** Returns the limit with these settings instead of those that it has. */
    public RateLimit apply(RateLimit limit) {
        return apply(limit.definition().declaration());
    }

    /**
     * Returns the limit of a declaration with these settings: the properties of the limit win over what customizers and the
     * declaration set, and these win over the defaults of all limits.
     */
    public RateLimit apply(RateLimitBuilder declaration) {
        LimitDefinition declared = declaration.definition();
        RateLimitBuilder customized = declared.declaration();
        customizers.forEach(customizer -> customizer.customize(declared.name(), customized));
        return declared.configure(
                        customized.definition().values(), of(declared.name()), defaults.values(), localShare::of)
                .build();
    }
}
