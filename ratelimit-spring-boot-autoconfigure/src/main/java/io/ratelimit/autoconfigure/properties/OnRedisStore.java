package io.ratelimit.autoconfigure.properties;

import io.ratelimit.autoconfigure.properties.RateLimitProperties.StoreType;
import org.springframework.boot.autoconfigure.condition.ConditionMessage;
import org.springframework.boot.autoconfigure.condition.ConditionOutcome;
import org.springframework.boot.autoconfigure.condition.SpringBootCondition;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.context.annotation.ConditionContext;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;
import org.springframework.core.env.Environment;
import org.springframework.core.type.AnnotatedTypeMetadata;

/** As early as conditions on classes, and declared before them, so that no class of Redis is loaded for another store. */
@Order(Ordered.HIGHEST_PRECEDENCE)
public final class OnRedisStore extends SpringBootCondition {

    @Override
    public ConditionOutcome getMatchOutcome(ConditionContext context, AnnotatedTypeMetadata metadata) {
        StoreType store = store(context.getEnvironment());
        return new ConditionOutcome(
                store == StoreType.REDIS,
                ConditionMessage.forCondition("ratelimit.store").because("is " + store));
    }

    static StoreType store(Environment environment) {
        return Binder.get(environment).bind("ratelimit.store", StoreType.class).orElse(StoreType.REDIS);
    }
}
