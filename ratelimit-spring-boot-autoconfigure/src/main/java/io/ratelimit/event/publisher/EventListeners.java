package io.ratelimit.event.publisher;

import org.springframework.context.ApplicationContext;
import org.springframework.context.ApplicationListener;
import org.springframework.context.PayloadApplicationEvent;
import org.springframework.context.event.GenericApplicationListener;
import org.springframework.context.event.GenericApplicationListenerAdapter;
import org.springframework.context.support.AbstractApplicationContext;
import org.springframework.core.ResolvableType;

/** Finds out whether an application listens to a type of event. */
final class EventListeners {

    private EventListeners() {}

    /**
     * Returns whether the context or a parent has a listener of this type. A listener of all events, as many libraries have,
     * is none.
     */
    static boolean exist(ApplicationContext context, Class<?> event) {
        for (ApplicationContext each = context; each != null; each = each.getParent()) {
            if (isBeanFor(each, published(event)) || isRegisteredWith(each, published(event))) {
                return true;
            }
        }
        return false;
    }

    private static boolean isRegisteredWith(ApplicationContext context, ResolvableType event) {
        return context instanceof AbstractApplicationContext known
                && known.getApplicationListeners().stream().anyMatch(listener -> isFor(listener, event));
    }

    /** Beans that are created on demand are not among the listeners of the context. */
    private static boolean isBeanFor(ApplicationContext context, ResolvableType event) {
        ResolvableType listener = ResolvableType.forClassWithGenerics(ApplicationListener.class, event);
        return context.getBeanNamesForType(listener, true, false).length > 0;
    }

    private static boolean isFor(ApplicationListener<?> listener, ResolvableType event) {
        GenericApplicationListener generic = listener instanceof GenericApplicationListener itself
                ? itself
                : new GenericApplicationListenerAdapter(listener);
        return generic.supportsEventType(event) && !generic.supportsEventType(published(Unrelated.class));
    }

    private static ResolvableType published(Class<?> event) {
        return ResolvableType.forClassWithGenerics(PayloadApplicationEvent.class, event);
    }

    private static final class Unrelated {}
}
