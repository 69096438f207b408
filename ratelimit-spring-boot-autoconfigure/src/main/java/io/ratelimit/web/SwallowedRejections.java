package io.ratelimit.web;

import java.lang.System.Logger.Level;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.context.ApplicationContext;

/** Warns at start-up of advice for every exception that gets rejections, so that callers see no 429. */
public final class SwallowedRejections implements SmartInitializingSingleton {

    private static final System.Logger logger = System.getLogger("io.ratelimit.web");

    private final UserAdvice users;

    private final boolean resolvedFirst;

    /** @param resolvedFirst whether rejections are answered before all advice, unless some of it names them */
    public SwallowedRejections(ApplicationContext context, boolean resolvedFirst) {
        this.users = new UserAdvice(context);
        this.resolvedFirst = resolvedFirst;
    }

    @Override
    public void afterSingletonsInstantiated() {
        Class<?> advice = resolvedFirst && !users.namesOursForAll() ? null : users.swallowing();
        if (advice != null) {
            logger.log(
                    Level.WARNING,
                    "Advice {0} handles every exception and precedes the advice for RateLimitExceededException; it answers"
                            + " rejected calls in its own way, not with 429. Give it a lower precedence (@Order), or a"
                            + " handler for RateLimitExceededException.",
                    advice.getName());
        }
    }
}
