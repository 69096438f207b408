package io.ratelimit.web;

import java.lang.System.Logger.Level;
import org.springframework.beans.factory.SmartInitializingSingleton;

/**
 * Warns at start-up of advice for every exception that handles rejections, so that callers do not see a 429.
 *
 * @param advice of the application
 * @param resolvedFirst whether rejections are answered before all advice, unless some of it names them
 */
public record CatchAllAdviceWarning(ApplicationAdvice advice, boolean resolvedFirst)
        implements SmartInitializingSingleton {

    private static final System.Logger logger = System.getLogger("io.ratelimit.web");

    @Override
    public void afterSingletonsInstantiated() {
        boolean takesPart =
                !resolvedFirst || advice.handlers().stream().anyMatch(handler -> handler.isApplicableToBeanType(null));
        Class<?> catchAll = takesPart ? advice.precedingCatchAll() : null;
        if (catchAll != null) {
            logger.log(
                    Level.WARNING,
                    "Advice {0} handles every exception and precedes the advice for RateLimitExceededException; it answers"
                            + " rejected calls in its own way, not with 429. Give it a lower precedence (@Order), or a"
                            + " handler for RateLimitExceededException.",
                    catchAll.getName());
        }
    }
}
