package io.ratelimit.autoconfigure;

import org.springframework.beans.DirectFieldAccessor;
import org.springframework.beans.factory.BeanFactory;

/** Determines the threads on which WebFlux calls handler methods whose return types are not reactive. */
final class WebFluxThreads {

    private static final String ADAPTER = "requestMappingHandlerAdapter";

    private WebFluxThreads() {}

    /** Whether WebFlux calls them on its event loops, because it has no executor for blocking handlers. */
    static boolean areEventLoops(BeanFactory beans) {
        if (!beans.containsBean(ADAPTER)) {
            return false;
        }
        Object adapter = beans.getBean(ADAPTER);
        return adapter.getClass().getName().startsWith("org.springframework.web.reactive.")
                && !hasExecutor(new DirectFieldAccessor(adapter));
    }

    /** Reads the field, because there is no getter. */
    private static boolean hasExecutor(DirectFieldAccessor adapter) {
        return adapter.isReadableProperty("scheduler") && adapter.getPropertyValue("scheduler") != null;
    }
}
