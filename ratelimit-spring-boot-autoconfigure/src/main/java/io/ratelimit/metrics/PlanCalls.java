package io.ratelimit.metrics;

import java.util.Collection;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The counters {@code ratelimit.calls} of one limit by plan. Those of configured plans exist from the start. Code can return plans
 * of any name, so the number of others is bounded.
 */
final class PlanCalls {

    /** The tag of calls that have the limit's own numbers. */
    static final String NONE = "none";

    /** The tag of calls whose plans are too many. */
    static final String OTHER = "other";

    /** About how many plans that are not configured have counters of their own. */
    static final int MOST_OF_CODE = 20;

    private final Function<String, OutcomeCounters> registration;

    private final OutcomeCounters own;

    private final Map<String, OutcomeCounters> plans = new ConcurrentHashMap<>();

    private final int most;

    /**
     * Creates the counters.
     *
     * @param registration registers the counters for a value of the tag
     * @param configured the names of the configured plans
     */
    PlanCalls(Function<String, OutcomeCounters> registration, Collection<String> configured) {
        this.registration = registration;
        this.own = registration.apply(NONE);
        this.most = configured.size() + MOST_OF_CODE;
        configured.forEach(plan -> plans.put(plan, registration.apply(plan)));
    }

    /** @param plan {@code null}: the limit's own numbers */
    OutcomeCounters of(@Nullable String plan) {
        if (plan == null) {
            return own;
        }
        OutcomeCounters known = plans.get(plan);
        return known != null ? known : plans.computeIfAbsent(plans.size() < most ? plan : OTHER, registration);
    }
}
