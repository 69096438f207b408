package io.ratelimit.internal.limiter;

import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitConfigurationException;
import io.ratelimit.RateLimitPlan;
import io.ratelimit.internal.limit.LimitNames;
import java.lang.System.Logger.Level;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Logs plans of one limit that cannot apply, each once. Names, which may come from requests, and plans that the application has made
 * are bounded apart, so that no client keeps a mistake of the application from the log.
 */
final class PlanMistakes {

    private static final System.Logger logger = System.getLogger("io.ratelimit.plans");

    /** How many mistakes of each kind are logged. */
    private static final int MOST = 20;

    private static final int LONGEST_NAME = 64;

    /** The names without a plan, as texts. */
    private final Set<String> names = ConcurrentHashMap.newKeySet();

    /** The plans that the application has made. */
    private final Set<String> plans = ConcurrentHashMap.newKeySet();

    /**
     * Logs a name without a plan. What is no name is not repeated.
     *
     * @param isText whether the name is a text, which may come from a request, and no plan without numbers
     */
    void unknown(RateLimit limit, String plan, boolean isText) {
        if (isNew(plan, isText ? names : plans)) {
            logger.log(
                    Level.WARNING,
                    "Rate limit '" + limit.name() + "' has no plan " + shown(plan)
                            + "; applying the limit's own numbers. " + suggestion(limit, plan)
                            + " Logged once for this plan.");
        }
    }

    /** Logs numbers that cannot apply to the limit. */
    void invalid(RateLimit limit, RateLimitPlan plan, RateLimitConfigurationException mistake) {
        if (isNew(plan.name(), plans)) {
            logger.log(
                    Level.WARNING,
                    "The numbers of plan " + shown(plan.name()) + " of rate limit '" + limit.name() + "' are invalid ("
                            + mistake.getProblem() + "); applying the configured numbers. Logged once for this plan.");
        }
    }

    private static boolean isNew(String plan, Set<String> logged) {
        return logged.size() < MOST && logged.add(isName(plan) ? LimitNames.canonical(plan) : "");
    }

    private static boolean isName(String plan) {
        return plan.length() <= LONGEST_NAME && LimitNames.isValid(plan);
    }

    private static String shown(String plan) {
        return isName(plan) ? "'" + plan + "'" : "of this name";
    }

    private static String suggestion(RateLimit limit, String plan) {
        Set<String> names = limit.plans().keySet();
        String nearest = isName(plan) ? LimitNames.didYouMean(plan, names, name -> "'" + name + "'") : "";
        return names.isEmpty()
                ? "It has no plans: set ratelimit.limits." + limit.name()
                        + ".plans.<plan>.rate, or return a RateLimitPlan."
                : nearest + "Its plans: " + String.join(", ", names) + ".";
    }
}
