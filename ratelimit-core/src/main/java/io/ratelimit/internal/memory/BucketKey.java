package io.ratelimit.internal.memory;

import io.ratelimit.spi.KeyDigest;
import org.jspecify.annotations.Nullable;

/**
 * What finds a bucket among those of its limit: the caller's own key, which knows its hash, unless there is none or it is
 * too long to be kept: then its digest, repeated so that the text is longer than every key that is kept. Texts have an order, so that a hash map is not slowed down by callers that choose keys with
 * the same hash.
 */
final class BucketKey {

    /** Of the one bucket of all callers. */
    private static final String EVERYBODY = " ".repeat(KeyDigest.LONGEST_KEY + 1);

    private BucketKey() {}

    /** @param key whose bucket; {@code null}: the one bucket of all callers */
    static String of(@Nullable String key) {
        if (key == null) {
            return EVERYBODY;
        }
        return key.length() <= KeyDigest.LONGEST_KEY ? key : KeyDigest.of(key).repeat(3);
    }
}
