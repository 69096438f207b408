package io.ratelimit.autoconfigure;

import org.springframework.beans.DirectFieldAccessor;
import org.springframework.beans.factory.BeanFactory;

/** Knows on which threads WebFlux calls handler methods whose return types are not reactive. */
final class WebFluxThreads {

    private static final String ADAPTER = "requestMappingHandlerAdapter";

    private WebFluxThreads() {}

    /** Whether there is WebFlux, and its event loops call them: it has no executor for handlers that block. */
    static boolean areEventLoops(BeanFactory beans) {
        if (!beans.containsBean(ADAPTER)) {
            return false;
        }
        Object adapter = beans.getBean(ADAPTER);
        return adapter.getClass().getName().startsWith("org.springframework.web.reactive.")
                && !hasExecutor(new DirectFieldAccessor(adapter));
    }

    /** Read from the field, because no getter tells. */
    private static boolean hasExecutor(DirectFieldAccessor adapter) {
        return adapter.isReadableProperty("scheduler") && adapter.getPropertyValue("scheduler") != null;
    }
}
