package io.ratelimit.limiter;

import io.ratelimit.LimitNames;
import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitConfigurationException;
import io.ratelimit.RateLimitPlan;
import java.lang.System.Logger.Level;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** Logs plans of one limit that cannot apply, each once. Bounded, because the names may come from requests. */
final class PlanMistakes {

    private static final System.Logger logger = System.getLogger("io.ratelimit.plans");

    /** How many mistakes are logged. */
    private static final int MOST = 20;

    private static final int LONGEST_NAME = 64;

    private final Set<String> logged = ConcurrentHashMap.newKeySet();

    /** Logs a name without a plan. What is no name is not repeated, because it may come from a request. */
    void unknown(RateLimit limit, String plan) {
        if (isNew(plan)) {
            logger.log(
                    Level.WARNING,
                    "Rate limit '" + limit.name() + "' has no plan " + shown(plan)
                            + "; applying the limit's own numbers. " + suggestion(limit, plan)
                            + " Logged once for this plan.");
        }
    }

    /** Logs numbers that cannot apply to the limit. */
    void invalid(RateLimit limit, RateLimitPlan plan, RateLimitConfigurationException mistake) {
        if (isNew(plan.name())) {
            logger.log(
                    Level.WARNING,
                    "The numbers of plan " + shown(plan.name()) + " of rate limit '" + limit.name() + "' are invalid ("
                            + mistake.getProblem() + "); applying the configured numbers. Logged once for this plan.");
        }
    }

    private boolean isNew(String plan) {
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
