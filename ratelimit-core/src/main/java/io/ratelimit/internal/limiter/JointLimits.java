package io.ratelimit.internal.limiter;

import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitConfigurationException;
import io.ratelimit.Scope;
import io.ratelimit.internal.limit.LimitNames;
import java.util.List;
import java.util.Objects;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The limits of one call. One store must decide all of them that block keys: if there were two, each could reject the call after the
 * other has charged it, and a charge that is undone later could be the violation of another call.
 */
public record JointLimits(List<EffectiveLimit> limits, String place) {

    /**
     * Checks the limits of a call as they are configured, and before each later change of one of them.
     *
     * @param owner the catalog of the context that combines them, until that is closed
     * @param place the method or property that combines them, for messages
     * @throws RateLimitConfigurationException if two of them block keys in different stores
     */
    public static void check(LimitCatalog owner, List<EffectiveLimit> limits, String place) {
        if (limits.size() > 1) {
            JointLimits joint = new JointLimits(List.copyOf(limits), place);
            limits.forEach(limit -> joint.check(limit, EffectiveLimit::configured));
            limits.forEach(limit -> limit.join(owner, joint));
        }
    }

    /**
     * Checks one of the limits beside each other one, and not those beside one another: a limit that does not block keys leaves the
     * overrides of the others as they are, and keeps its own.
     *
     * @param numbers returns what would apply to a limit
     */
    void check(EffectiveLimit limit, Function<EffectiveLimit, RateLimit> numbers) {
        try {
            limits.forEach(other -> check(limits.stream()
                    .filter(each -> each == limit || each == other)
                    .map(numbers)
                    .toList()));
        } catch (RateLimitConfigurationException ex) {
            throw ex.at(place);
        }
    }

    /**
     * @throws RateLimitConfigurationException if two of these limits, or plans of them, block keys in different stores, or one does
     *     by a plan that calls of others do not know
     */
    static void check(List<RateLimit> limits) {
        RateLimit blocking = null;
        for (RateLimit limit : limits) {
            if (limit.blocksKeysByCodeAlone() && !limits.stream().allMatch(other -> haveOneStore(limit, other))) {
                throw new RateLimitConfigurationException(
                        "blockFor must not be set by code alone for a limit of a call that different stores decide (was set for "
                                + describe(limit) + ").",
                        "Set blockFor for the limit or for a configured plan, too, so that calls of other plans know of it.");
            }
            if (!limit.anyPlanBlocksKeys()) {
                continue;
            }
            if (blocking != null && !haveOneStore(blocking, limit)) {
                throw new RateLimitConfigurationException(
                        "blockFor must not be set for limits of one call that different stores decide (was set for "
                                + describe(blocking) + " and " + describe(limit) + ").",
                        "Remove one blockFor, or give these limits the same scope and the same redis.");
            }
            blocking = limit;
        }
    }

    private static boolean haveOneStore(RateLimit limit, RateLimit other) {
        return Objects.equals(store(limit), store(other));
    }

    /** Returns what tells the store apart from others; {@code null}: the first server. */
    private static @Nullable Object store(RateLimit limit) {
        String redis = limit.redis();
        return limit.scope() == Scope.INSTANCE ? Scope.INSTANCE : redis == null ? null : LimitNames.canonical(redis);
    }

    private static String describe(RateLimit limit) {
        boolean named = limit.scope() == Scope.SHARED && limit.redis() != null;
        return "'" + limit.name() + "' with " + (named ? "redis " + limit.redis() : "scope " + limit.scope());
    }
}
