package io.ratelimit.aop;

import java.lang.reflect.Method;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Caches limited methods by identity, because a proxy passes the same {@link Method} at every call, and hashing methods costs
 * more than a decision. The size is bounded, because some callers create new ones for each call; these are looked up in
 * {@link LimitedMethodResolver} each time.
 */
final class LimitedMethodCache {

    private static final int MAX_SIZE = 4_096;

    private final LimitedMethodResolver methods;

    /** By the class of the target, because classes can share a method of an interface. Copied on write. */
    private volatile Map<Class<?>, IdentityHashMap<Method, LimitedMethod>> cache = Map.of();

    private int size;

    LimitedMethodCache(LimitedMethodResolver methods) {
        this.methods = methods;
    }

    /** Returns the limited method, or {@code null} if the method is not limited. */
    @Nullable
    LimitedMethod find(Method method, Class<?> targetClass) {
        IdentityHashMap<Method, LimitedMethod> ofClass = cache.get(targetClass);
        LimitedMethod limited = ofClass == null ? null : ofClass.get(method);
        return limited != null ? limited : lookUp(method, targetClass);
    }

    private @Nullable LimitedMethod lookUp(Method method, Class<?> targetClass) {
        MatchedMethod matched = methods.find(method, targetClass);
        if (matched == null) {
            return null;
        }
        LimitedMethod limited = matched.limited();
        add(method, targetClass, limited);
        return limited;
    }

    private synchronized void add(Method method, Class<?> targetClass, LimitedMethod limited) {
        if (size == MAX_SIZE) {
            return;
        }
        IdentityHashMap<Method, LimitedMethod> before = cache.get(targetClass);
        IdentityHashMap<Method, LimitedMethod> ofClass =
                before == null ? new IdentityHashMap<>() : new IdentityHashMap<>(before);
        if (ofClass.put(method, limited) == null) {
            size++;
        }
        Map<Class<?>, IdentityHashMap<Method, LimitedMethod>> all = new HashMap<>(cache);
        all.put(targetClass, ofClass);
        cache = all;
    }
}
