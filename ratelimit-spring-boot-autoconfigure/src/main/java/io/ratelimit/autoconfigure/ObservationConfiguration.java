package io.ratelimit.autoconfigure;

import io.micrometer.observation.ObservationRegistry;
import io.ratelimit.autoconfigure.properties.RateLimitProperties;
import io.ratelimit.internal.limiter.CallObserver;
import io.ratelimit.metrics.CallObservations;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** Configures observations, if they are enabled and there is a registry. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnClass(ObservationRegistry.class)
class ObservationConfiguration {

    @Bean
    CallObserver rateLimitObservations(RateLimitProperties properties, ObjectProvider<ObservationRegistry> registries) {
        ObservationRegistry registry = properties.observations().enabled() ? registries.getIfUnique() : null;
        return registry == null ? CallObserver.NONE : new CallObservations(registry);
    }
}
