package io.ratelimit.redis;

import io.ratelimit.RateLimit;
import io.ratelimit.store.KeyDigest;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import org.jspecify.annotations.Nullable;

/**
 * Names buckets in Redis: {@code ratelimit:{alice}:quotes}. No two (limit, key) pairs have the same name, and limits with
 * the same key share a slot of a cluster, whatever the key contains: it can neither end nor empty the hash tag.
 *
 * @see <a href="https://redis.io/docs/latest/operate/oss_and_stack/reference/cluster-spec/#hash-tags">Hash tags</a>
 */
final class BucketKeys {

    /** Tags that no escaped key can be: there a percent sign is followed by a hexadecimal digit or by 'u'. */
    private static final String ALL_CALLERS = "%";

    /** An empty tag would be none: the limits of the empty key would be in as many slots. */
    private static final String EMPTY = "%-";

    private static final String HASHED = "%sha256-";

    private static final HexFormat HEX = HexFormat.of().withUpperCase();

    private final String prefix;

    /** @param prefix without braces, which would put every bucket into one slot */
    BucketKeys(String prefix) {
        if (prefix.isBlank() || prefix.contains("{") || prefix.contains("}")) {
            throw new IllegalArgumentException("ratelimit.redis.key-prefix '" + prefix + "' is blank or has braces");
        }
        this.prefix = prefix + ":{";
    }

    byte[] name(RateLimit limit, @Nullable String key) {
        return (prefix + tag(key) + "}:" + limit.id()).getBytes(StandardCharsets.UTF_8);
    }

    private static String tag(@Nullable String key) {
        if (key == null) {
            return ALL_CALLERS;
        }
        if (key.isEmpty()) {
            return EMPTY;
        }
        if (key.length() > KeyDigest.LONGEST_KEY) {
            return HASHED + KeyDigest.of(key);
        }
        for (int i = 0; i < key.length(); i++) {
            if (!isPlain(key.charAt(i))) {
                return escape(key);
            }
        }
        return key;
    }

    private static boolean isPlain(char c) {
        return c > ' ' && c < 0x7f && c != '{' && c != '}' && c != '%';
    }

    private static String escape(String key) {
        StringBuilder escaped = new StringBuilder(key.length() + 16);
        for (int i = 0; i < key.length(); i++) {
            char c = key.charAt(i);
            if (isPlain(c)) {
                escaped.append(c);
            } else if (c < 0x100) {
                escaped.append('%').append(HEX.toHexDigits((byte) c));
            } else {
                escaped.append("%u").append(HEX.toHexDigits(c));
            }
        }
        return escaped.toString();
    }
}
