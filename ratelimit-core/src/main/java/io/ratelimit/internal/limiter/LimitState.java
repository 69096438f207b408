package io.ratelimit.internal.limiter;

import io.ratelimit.LimitAttributes;
import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitConfigurationException;
import io.ratelimit.RateLimitOverride;
import io.ratelimit.internal.limit.LimitNames;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * What applies to a limit and its plans: a pure function of the configuration and of the overrides in force, computed as a whole.
 * If the whole is invalid, the configuration applies.
 *
 * @param overrides by the id of the plan, of plans that the configuration has; {@link #OF_LIMIT}: of the limit itself
 * @param problem why the overrides do not apply; {@code null}: they do
 */
public record LimitState(
        RateLimit configured,
        Map<String, StoredOverride> overrides,
        RateLimit effective,
        @Nullable String problem) {

    /** The key of the override of the limit itself. No plan has an empty id. */
    public static final String OF_LIMIT = "";

    /**
     * Returns what applies with these overrides; this object if they are the same and apply. While they do not, it tries again, as
     * what has failed may have been a lack of memory.
     *
     * @param all those of the limit and of its plans; an override of a plan that the configuration does not have is ignored
     * @param check throws a {@link RateLimitConfigurationException} if a limit cannot apply
     */
    LimitState next(RateLimit configuration, Map<String, StoredOverride> all, Consumer<RateLimit> check) {
        Map<String, StoredOverride> known = Map.of();
        try {
            known = known(configuration, all);
            if (problem == null && configuration == configured && known.equals(overrides)) {
                if (!known.isEmpty()) {
                    effective.withPlans().forEach(check);
                }
                return this;
            }
            return new LimitState(configuration, known, effective(configuration, known, check), null);
        } catch (Throwable ex) {
            return invalid(configuration, known, ex);
        }
    }

    /**
     * Returns this state, or the configuration if the limits of its calls exclude what applies with overrides.
     *
     * @param check throws a {@link RateLimitConfigurationException} if they do
     */
    LimitState among(Consumer<RateLimit> check) {
        try {
            if (effective != configured) {
                check.accept(effective);
            }
            return this;
        } catch (Throwable ex) {
            return invalid(configured, overrides, ex);
        }
    }

    private static LimitState invalid(RateLimit configured, Map<String, StoredOverride> overrides, Throwable failure) {
        String mistake = failure instanceof RateLimitConfigurationException ? failure.getMessage() : failure.toString();
        return new LimitState(configured, overrides, configured, mistake);
    }

    private static Map<String, StoredOverride> known(RateLimit configuration, Map<String, StoredOverride> all) {
        if (all.isEmpty()) {
            return all;
        }
        Map<String, StoredOverride> known = new HashMap<>(all);
        known.keySet().removeIf(plan -> !plan.equals(OF_LIMIT) && !hasPlan(configuration, plan));
        return Map.copyOf(known);
    }

    /**
     * Returns whether the configuration of a limit has a plan.
     *
     * @param plan its id
     */
    public static boolean hasPlan(RateLimit limit, String plan) {
        return limit.plans().keySet().stream()
                .anyMatch(name -> LimitNames.canonical(name).equals(plan));
    }

    /** @throws RateLimitConfigurationException if the limit or one of its plans is invalid with the overrides */
    static RateLimit effective(
            RateLimit configuration, Map<String, StoredOverride> overrides, Consumer<RateLimit> check) {
        if (overrides.isEmpty()) {
            return configuration;
        }
        Map<String, RateLimitOverride> ofPlans = new HashMap<>();
        overrides.forEach((plan, override) -> ofPlans.put(plan, attributes(plan, override)));
        RateLimitOverride ofLimit = ofPlans.remove(OF_LIMIT);
        RateLimit effective = configuration.definition().with(ofLimit, ofPlans);
        effective.withPlans().forEach(check);
        return effective;
    }

    private static RateLimitOverride attributes(String plan, StoredOverride override) {
        RateLimitOverride attributes = override.attributes();
        if (attributes == null) {
            throw new RateLimitConfigurationException(
                    "the override" + (plan.equals(OF_LIMIT) ? "" : " of plan '" + plan + "'") + " must be readable.",
                    "A newer version of the starter may have written it.");
        }
        String end = override.until() == null ? "until it is removed" : "until " + override.until();
        return LimitAttributes.override(LimitAttributes.of(attributes).inForce(end), attributes.duration());
    }
}
