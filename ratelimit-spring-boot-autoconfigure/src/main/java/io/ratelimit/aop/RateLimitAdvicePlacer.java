package io.ratelimit.aop;

import java.util.stream.Stream;
import org.springframework.aop.framework.Advised;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.core.Ordered;

/**
 * Moves the advice of the starter to its order among the advice that other post-processors have added to the proxy. Has no
 * order itself, and so runs after all ordered post-processors.
 */
public record RateLimitAdvicePlacer(RateLimitBeanPostProcessor processor) implements BeanPostProcessor {

    @Override
    public Object postProcessAfterInitialization(Object bean, String beanName) {
        if (bean instanceof Advised advised
                && !advised.isFrozen()
                && advised.getAdvisorCount() > 1
                && advised.removeAdvisor(processor.limiting())) {
            advised.addAdvisor(position(advised), processor.limiting());
        }
        return bean;
    }

    /** Returns the position before the first advice of the same or a later order. */
    private int position(Advised advised) {
        int own = processor.limiting().getOrder();
        return (int) Stream.of(advised.getAdvisors())
                .takeWhile(other -> other instanceof Ordered ordered && ordered.getOrder() < own)
                .count();
    }
}
