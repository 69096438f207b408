package io.ratelimit.expression;

import io.ratelimit.LimitNames;
import io.ratelimit.LimitOverrides;
import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitConfigurationException;
import io.ratelimit.limiter.LimitCatalog;
import java.util.List;
import org.springframework.beans.factory.config.ConfigurableBeanFactory;

/** Works out what limits a web request, from the configuration alone and by the same operations as a method's. */
public final class RequestLimits {

    private final LimitCatalog catalog;

    private final RateLimitExpressions expressions;

    private final LimitOperations operations;

    public RequestLimits(LimitCatalog catalog, ConfigurableBeanFactory beans) {
        this.catalog = catalog;
        this.expressions = new RateLimitExpressions(beans, method -> CallerFacts.REQUEST);
        this.operations = new LimitOperations(catalog, expressions);
    }

    /**
     * To be called when all limits are declared.
     *
     * @param name the limit's
     * @param property where the rule stands, {@code ratelimit.http[0]}
     * @param variables those that the rule's path has
     * @throws RateLimitConfigurationException if there is no such limit, or it cannot limit requests
     */
    public RequestLimit create(String name, String property, List<String> variables) {
        RateLimit limit = catalog.find(name).orElseThrow(() -> unknown(name, property));
        LimitOverrides overrides = catalog.settings().overrides(name);
        if (overrides.refundOn() != null && !overrides.refundOn().isEmpty()) {
            throw new RateLimitConfigurationException(
                            overrides.property()
                                    + ".refund-on must be empty for a limit of URLs, because no method is called"
                                    + " that could fail.",
                            "Remove it, or set refundOn of the annotations that share the limit.")
                    .at(property);
        }
        try {
            return new RequestLimit(
                    operations.ofConfiguration(limit.name(), ExpressionScope.ofRequest(property, variables)),
                    expressions);
        } catch (RateLimitConfigurationException ex) {
            throw ex.at(property);
        }
    }

    private RateLimitConfigurationException unknown(String name, String property) {
        List<String> names = catalog.limits().stream().map(RateLimit::name).toList();
        return new RateLimitConfigurationException(
                property + ".limit must be the name of a limit (was \"" + name + "\").",
                LimitNames.nearest(name, names)
                                .map(nearest -> "Did you mean '" + nearest + "'? ")
                                .orElse("")
                        + "To declare it, set ratelimit.limits." + name + ".rate. "
                        + (names.isEmpty()
                                ? "There are no limits."
                                : "Known limits: " + String.join(", ", names) + "."));
    }
}
