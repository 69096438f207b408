package io.ratelimit.web;

import io.ratelimit.RateLimitExceededException;
import io.ratelimit.RateLimitRefusedException;
import io.ratelimit.aop.MissingRateLimitKeyException;
import io.ratelimit.aop.RateLimitExpressionException;
import java.util.Set;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.core.Ordered;

/** Where our advice stands: after one of the application for the same exceptions, before one for every exception. */
final class AdviceOrder {

    private static final Set<Class<? extends Throwable>> OURS = Set.of(
            RateLimitExceededException.class,
            RateLimitRefusedException.class,
            MissingRateLimitKeyException.class,
            RateLimitExpressionException.class);

    private final UserAdvice users;

    AdviceOrder(ListableBeanFactory beans) {
        this.users = new UserAdvice(beans);
    }

    int get() {
        return users.names(OURS) ? Ordered.LOWEST_PRECEDENCE : Ordered.HIGHEST_PRECEDENCE;
    }
}
