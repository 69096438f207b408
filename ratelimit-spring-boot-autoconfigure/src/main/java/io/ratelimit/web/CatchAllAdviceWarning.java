package io.ratelimit.web;

import java.lang.System.Logger.Level;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.context.ApplicationContext;

/** Warns at start-up of advice for every exception that handles rejections, so that callers do not see a 429. */
public final class CatchAllAdviceWarning implements SmartInitializingSingleton {

    private static final System.Logger logger = System.getLogger("io.ratelimit.web");

    private final ApplicationAdvice advice;

    private final boolean resolvedFirst;

    /** @param resolvedFirst whether rejections are answered before all advice, unless some of it names them */
    public CatchAllAdviceWarning(ApplicationContext context, boolean resolvedFirst) {
        this.advice = new ApplicationAdvice(context);
        this.resolvedFirst = resolvedFirst;
    }

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
