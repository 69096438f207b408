package io.ratelimit.test.context;

import io.ratelimit.spi.RateLimitStore;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.config.BeanPostProcessor;

/** Wraps the starter's store, so that the limits can be reset, and turned off for one test method. */
final class TestRateLimits implements BeanPostProcessor {

    private @Nullable ResettableRateLimitStore store;

    @Override
    public Object postProcessAfterInitialization(Object bean, String beanName) {
        if (beanName.equals("rateLimitDefaultStore") && bean instanceof RateLimitStore wrapped) {
            store = new ResettableRateLimitStore(wrapped);
            return store;
        }
        return bean;
    }

    /**
     * Prepares a test method.
     *
     * @throws IllegalStateException if the limits cannot be turned off, because the application has a store of its own
     */
    void reset(boolean disabled) {
        if (store != null) {
            store.reset(disabled);
        } else if (disabled) {
            throw new IllegalStateException(
                    "@DisableRateLimits must be on the class if the application has its own RateLimitStore");
        }
    }
}
