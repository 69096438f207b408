package io.ratelimit.autoconfigure;

import io.ratelimit.spi.RateLimitStore;
import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.boot.autoconfigure.condition.ConditionMessage;
import org.springframework.boot.autoconfigure.condition.ConditionOutcome;
import org.springframework.boot.autoconfigure.condition.SpringBootCondition;
import org.springframework.context.annotation.ConditionContext;
import org.springframework.core.type.AnnotatedTypeMetadata;

/** Matches unless a parent context has a store. Spring Boot's own condition for ancestors fails in a context without a parent. */
final class OnStoreOfThisContext extends SpringBootCondition {

    @Override
    public ConditionOutcome getMatchOutcome(ConditionContext context, AnnotatedTypeMetadata metadata) {
        boolean ofParent = context.getBeanFactory() != null
                && context.getBeanFactory().getParentBeanFactory() instanceof ListableBeanFactory parent
                && BeanFactoryUtils.beanNamesForTypeIncludingAncestors(parent, RateLimitStore.class, true, false).length
                        > 0;
        return new ConditionOutcome(
                !ofParent,
                ConditionMessage.forCondition("rate limit store")
                        .because(ofParent ? "is that of a parent context" : "is of this context"));
    }
}
