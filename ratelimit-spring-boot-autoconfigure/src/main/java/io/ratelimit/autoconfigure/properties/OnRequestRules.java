package io.ratelimit.autoconfigure.properties;

import org.springframework.boot.autoconfigure.condition.ConditionMessage;
import org.springframework.boot.autoconfigure.condition.ConditionOutcome;
import org.springframework.boot.autoconfigure.condition.SpringBootCondition;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.context.properties.source.ConfigurationPropertySource;
import org.springframework.boot.context.properties.source.ConfigurationPropertySources;
import org.springframework.boot.context.properties.source.ConfigurationPropertyState;
import org.springframework.context.annotation.ConditionContext;
import org.springframework.core.type.AnnotatedTypeMetadata;

/** Matches if URL rules may be configured. An application without them gets no filter. */
public final class OnRequestRules extends SpringBootCondition {

    private static final ConfigurationPropertyName HTTP = ConfigurationPropertyName.of("ratelimit.http");

    @Override
    public ConditionOutcome getMatchOutcome(ConditionContext context, AnnotatedTypeMetadata metadata) {
        boolean found = false;
        for (ConfigurationPropertySource source : ConfigurationPropertySources.get(context.getEnvironment())) {
            found |= source.getConfigurationProperty(HTTP) != null
                    || source.containsDescendantOf(HTTP) != ConfigurationPropertyState.ABSENT;
        }
        return new ConditionOutcome(
                found, ConditionMessage.forCondition("ratelimit.http").because(found ? "is set" : "is not set"));
    }
}
