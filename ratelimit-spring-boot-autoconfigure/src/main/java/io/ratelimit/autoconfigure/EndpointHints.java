package io.ratelimit.autoconfigure;

import io.ratelimit.actuate.BucketDescriptor;
import io.ratelimit.actuate.LimitDescriptor;
import io.ratelimit.actuate.RateLimitsDescriptor;
import org.jspecify.annotations.Nullable;
import org.springframework.aot.hint.BindingReflectionHintsRegistrar;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.RuntimeHintsRegistrar;

/** Registers what the endpoint writes as JSON, which the types of its operations do not tell. */
final class EndpointHints implements RuntimeHintsRegistrar {

    @Override
    public void registerHints(RuntimeHints hints, @Nullable ClassLoader loader) {
        new BindingReflectionHintsRegistrar()
                .registerReflectionHints(
                        hints.reflection(), RateLimitsDescriptor.class, LimitDescriptor.class, BucketDescriptor.class);
    }
}
