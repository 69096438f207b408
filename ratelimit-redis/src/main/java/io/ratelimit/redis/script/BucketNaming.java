package io.ratelimit.redis.script;

import io.ratelimit.RateLimit;
import io.ratelimit.spi.Charge;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Names buckets in Redis: {@code ratelimit:{alice}:quotes}. No two (limit, key) pairs have the same name, and limits with the
 * same key share a cluster slot, because no key can end or empty the hash tag.
 *
 * @see <a href="https://redis.io/docs/latest/operate/oss_and_stack/reference/cluster-spec/#hash-tags">Hash tags</a>
 */
public final class BucketNaming {

    /** No escaped key equals these tags: in those, a hexadecimal digit or 'u' follows each percent sign. */
    private static final String ALL_CALLERS = "%";

    /** An empty hash tag does not count as one, so limits with the empty key would be in different slots. */
    private static final String EMPTY = "%-";

    /** The permits that calls hold are no bucket: they have a key of their own, should the limit get another algorithm. */
    private static final String HELD = "%held";

    private static final HexFormat HEX = HexFormat.of().withUpperCase();

    private final String prefix;

    private final KeyHash hash;

    public BucketNaming(String prefix) {
        this(prefix, KeyHash.OF_LONG_KEYS);
    }

    /** @param prefix must not contain braces, which would put every bucket into one slot */
    public BucketNaming(String prefix, KeyHash hash) {
        if (prefix.isBlank() || prefix.contains("{") || prefix.contains("}")) {
            throw new IllegalArgumentException(
                    "ratelimit.redis.key-prefix must not be blank or contain braces (was '" + prefix + "')");
        }
        this.prefix = prefix + ":{";
        this.hash = hash;
    }

    public byte[] name(RateLimit limit, @Nullable String key) {
        return (prefix + tag(key) + "}:" + (limit.hasRate() ? limit.id() : limit.id() + HELD))
                .getBytes(StandardCharsets.UTF_8);
    }

    public List<byte[]> names(List<Charge> charges) {
        if (charges.size() == 1) {
            return List.of(name(charges.get(0).limit(), charges.get(0).key()));
        }
        List<byte[]> names = new ArrayList<>(charges.size());
        for (Charge charge : charges) {
            names.add(name(charge.limit(), charge.key()));
        }
        return names;
    }

    private String tag(@Nullable String key) {
        if (key == null) {
            return ALL_CALLERS;
        }
        if (key.isEmpty()) {
            return EMPTY;
        }
        if (hash.appliesTo(key)) {
            return hash.of(key);
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
