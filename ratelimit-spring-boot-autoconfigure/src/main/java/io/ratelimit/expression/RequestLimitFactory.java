package io.ratelimit.expression;

import io.ratelimit.LimitAttributes;
import io.ratelimit.LimitConfiguration;
import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitConfigurationException;
import io.ratelimit.internal.limit.LimitNames;
import io.ratelimit.internal.limiter.LimitCatalog;
import java.util.List;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;

/** Creates the limits of URL rules from the configuration. */
public record RequestLimitFactory(LimitOperations operations) {

    public RequestLimitFactory(LimitCatalog catalog, ConfigurableListableBeanFactory beans) {
        this(new LimitOperations(catalog, new RateLimitExpressionParser(beans, method -> CallerFacts.REQUEST)));
    }

    /**
     * Creates the limit of a URL rule. Called when all limits are declared.
     *
     * @param name the name of the limit
     * @param property the prefix of the rule, such as {@code ratelimit.http[0]}
     * @param variables names in the path of the rule
     * @throws RateLimitConfigurationException if there is no such limit, or it cannot be applied to requests
     */
    public RateLimitOperation create(String name, String property, List<String> variables) {
        RateLimit limit = operations.catalog().find(name).orElseThrow(() -> unknown(name, property));
        LimitConfiguration overrides = operations.catalog().settings().of(name);
        try {
            if (!overrides.get(LimitAttributes.REFUND_ON, List.of()).isEmpty()) {
                throw new RateLimitConfigurationException(
                        overrides.property()
                                + ".refund-on must be empty for a limit of URLs, because no method is called that could fail.",
                        "Remove it, or set refundOn of the annotations that share the limit.");
            }
            return operations.ofConfiguration(limit.name(), ExpressionScope.ofRequest(property, variables));
        } catch (RateLimitConfigurationException ex) {
            throw ex.at(property);
        }
    }

    /** Returns whether the limit is unknown here, but may be declared by another context of the application. */
    public boolean mayBeElsewhere(String name) {
        return operations.catalog().find(name).isEmpty()
                && operations
                        .catalog()
                        .mayBeAppliedElsewhere(
                                operations.catalog().settings().of(name).property());
    }

    private RateLimitConfigurationException unknown(String name, String property) {
        return new RateLimitConfigurationException(
                property + ".limit must be the name of a limit (was \"" + name + "\").",
                LimitNames.didYouMean(name, operations.catalog().names(), nearest -> "'" + nearest + "'")
                        + "To declare it, set ratelimit.limits." + name + ".rate. "
                        + operations.catalog().known());
    }
}
