package io.ratelimit.aop;

import java.lang.reflect.Method;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Finds what limits a method by the identity of what a proxy passes, which is the same at every call: to hash and compare
 * methods would cost more than to decide. Whoever makes them anew for each call fills it in vain, so it takes only so
 * many; for others {@link LimitedMethods} is asked each time.
 */
final class CalledMethods {

    private static final int MOST = 4_096;

    private final LimitedMethods methods;

    /** By the target's class, because classes can share a method of an interface. Replaced, never changed. */
    private volatile Map<Class<?>, IdentityHashMap<Method, LimitedMethod>> known = Map.of();

    private int size;

    CalledMethods(LimitedMethods methods) {
        this.methods = methods;
    }

    /** What limits a method; {@code null}: nothing does. */
    @Nullable
    LimitedMethod find(Method method, Class<?> targetClass) {
        IdentityHashMap<Method, LimitedMethod> ofClass = known.get(targetClass);
        LimitedMethod limited = ofClass == null ? null : ofClass.get(method);
        return limited != null ? limited : ask(method, targetClass);
    }

    private @Nullable LimitedMethod ask(Method method, Class<?> targetClass) {
        FoundMethod found = methods.find(method, targetClass);
        if (found == null) {
            return null;
        }
        LimitedMethod limited = found.limited();
        remember(method, targetClass, limited);
        return limited;
    }

    private synchronized void remember(Method method, Class<?> targetClass, LimitedMethod limited) {
        if (size == MOST) {
            return;
        }
        IdentityHashMap<Method, LimitedMethod> before = known.get(targetClass);
        IdentityHashMap<Method, LimitedMethod> ofClass =
                before == null ? new IdentityHashMap<>() : new IdentityHashMap<>(before);
        if (ofClass.put(method, limited) == null) {
            size++;
        }
        Map<Class<?>, IdentityHashMap<Method, LimitedMethod>> all = new HashMap<>(known);
        all.put(targetClass, ofClass);
        known = all;
    }
}
