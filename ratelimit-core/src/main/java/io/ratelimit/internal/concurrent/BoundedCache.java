package io.ratelimit.internal.concurrent;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;

/**
 * Keeps the values of the keys that were asked for last: at least half of the capacity, and no more than it, but for the keys that
 * threads add at the same moment. Two generations: when the young one has half of the capacity, it replaces the old one, and what
 * has not been asked for since is forgotten.
 */
public final class BoundedCache<K, V> {

    private final int half;

    private final Function<? super K, ? extends V> create;

    private volatile Map<K, V> young = new ConcurrentHashMap<>();

    private volatile Map<K, V> old = Map.of();

    /** @param create makes the value of a key that is not known; threads that ask at the same moment get the same value */
    public BoundedCache(int capacity, Function<? super K, ? extends V> create) {
        this.half = Math.max(1, capacity / 2);
        this.create = create;
    }

    /** Returns the value of the key. */
    public V get(K key) {
        V known = young.get(key);
        return known != null ? known : renew(key);
    }

    /** One at a time: the value of a key must not be made twice while generations change. */
    private synchronized V renew(K key) {
        V known = young.get(key);
        if (known != null) {
            return known;
        }
        V kept = old.get(key);
        V value = kept != null ? kept : create.apply(key);
        if (young.size() >= half) {
            old = young;
            young = new ConcurrentHashMap<>();
        }
        young.put(key, value);
        return value;
    }
}
