package io.ratelimit.autoconfigure;

import org.springframework.boot.autoconfigure.condition.ConditionMessage;
import org.springframework.boot.autoconfigure.condition.ConditionOutcome;
import org.springframework.boot.autoconfigure.condition.SpringBootCondition;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.context.annotation.ConditionContext;
import org.springframework.core.type.AnnotatedTypeMetadata;

/**
 * Reads what Spring Boot's {@code ConditionalOnEnabledHealthIndicator} does, which Spring Boot 3 and 4 have in different
 * packages.
 */
final class OnRateLimitHealthEnabled extends SpringBootCondition {

    private static final String PROPERTY = "management.health.ratelimit.enabled";

    private static final String DEFAULTS = "management.health.defaults.enabled";

    @Override
    public ConditionOutcome getMatchOutcome(ConditionContext context, AnnotatedTypeMetadata metadata) {
        Binder binder = Binder.get(context.getEnvironment());
        boolean enabled = binder.bind(PROPERTY, Boolean.class)
                .orElseGet(() -> binder.bind(DEFAULTS, Boolean.class).orElse(true));
        return new ConditionOutcome(
                enabled, ConditionMessage.forCondition(PROPERTY).because("is " + enabled));
    }
}
