package io.ratelimit.autoconfigure.properties;

import org.springframework.boot.autoconfigure.condition.ConditionMessage;
import org.springframework.boot.autoconfigure.condition.ConditionOutcome;
import org.springframework.boot.autoconfigure.condition.SpringBootCondition;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.context.annotation.ConditionContext;
import org.springframework.core.env.Environment;
import org.springframework.core.type.AnnotatedTypeMetadata;

/** Binds {@code ratelimit.enabled} as the properties do, so that {@code on} and {@code yes} mean true, too. */
public final class OnRateLimitsEnabled extends SpringBootCondition {

    @Override
    public ConditionOutcome getMatchOutcome(ConditionContext context, AnnotatedTypeMetadata metadata) {
        boolean enabled = isEnabled(context.getEnvironment());
        return new ConditionOutcome(
                enabled, ConditionMessage.forCondition("ratelimit.enabled").because("is " + enabled));
    }

    public static boolean isEnabled(Environment environment) {
        return Binder.get(environment).bind("ratelimit.enabled", Boolean.class).orElse(true);
    }
}
