package com.acme;

import java.util.function.Function;
import java.util.function.Supplier;
import org.springframework.cloud.client.circuitbreaker.CircuitBreaker;
import org.springframework.cloud.client.circuitbreaker.CircuitBreakerFactory;
import org.springframework.cloud.client.circuitbreaker.ConfigBuilder;
import org.springframework.stereotype.Component;

/** A circuit breaker that never opens, without a library of them. */
@Component
class Breakers extends CircuitBreakerFactory<Object, ConfigBuilder<Object>> {

    @Override
    public CircuitBreaker create(String id) {
        return new CircuitBreaker() {
            @Override
            public <T> T run(Supplier<T> call, Function<Throwable, T> fallback) {
                try {
                    return call.get();
                } catch (RuntimeException ex) {
                    return fallback.apply(ex);
                }
            }
        };
    }

    @Override
    protected ConfigBuilder<Object> configBuilder(String id) {
        return Object::new;
    }

    @Override
    public void configureDefault(Function<String, Object> configuration) {}
}
