package io.ratelimit.internal.store.contract;

import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;

/** Gives a nested contract the test class around it, which makes the stores. */
final class EnclosingStoreFactory implements ParameterResolver {

    @Override
    public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
        return parameter.getParameter().getType() == StoreFactory.class;
    }

    @Override
    public StoreFactory resolveParameter(ParameterContext parameter, ExtensionContext context) {
        return context.getRequiredTestInstances()
                .findInstance(StoreFactory.class)
                .orElseThrow();
    }
}
