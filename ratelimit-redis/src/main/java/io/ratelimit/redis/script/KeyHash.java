package io.ratelimit.redis.script;

import io.ratelimit.spi.KeyDigest;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.util.HexFormat;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.jspecify.annotations.Nullable;

/** Decides which callers' keys Redis gets as a hash. */
public final class KeyHash {

    /** Hashes long keys, so that callers cannot choose how much memory their buckets take. */
    public static final KeyHash OF_LONG_KEYS = new KeyHash(KeyDigest.LONGEST_KEY, null);

    /** Hashes every key. Keys that can be guessed, such as addresses, can be found by trying. */
    public static final KeyHash OF_ALL_KEYS = new KeyHash(0, null);

    private static final String ALGORITHM = "HmacSHA256";

    private static final HexFormat HEX = HexFormat.of().withUpperCase();

    private final int longest;

    private final @Nullable SecretKeySpec secret;

    private KeyHash(int longest, @Nullable SecretKeySpec secret) {
        this.longest = longest;
        this.secret = secret;
    }

    /** Hashes every key with a secret, without which guesses cannot be tried. */
    public static KeyHash withSecret(String secret) {
        return new KeyHash(0, new SecretKeySpec(secret.getBytes(StandardCharsets.UTF_8), ALGORITHM));
    }

    /** Returns the key, or the hash in its place, as operators may see it. */
    public String name(String key) {
        return appliesTo(key) ? of(key) : key;
    }

    boolean appliesTo(String key) {
        return key.length() > longest;
    }

    /** Returns a name that no escaped key equals. */
    String of(String key) {
        return secret == null ? "%sha256-" + KeyDigest.of(key) : "%hmac-" + hmac(key, secret);
    }

    /** Hashes the UTF-16 code units, because an encoding would map all unpaired surrogates to one character. */
    private static String hmac(String key, SecretKeySpec secret) {
        try {
            Mac mac = Mac.getInstance(ALGORITHM);
            mac.init(secret);
            ByteBuffer units = ByteBuffer.allocate(2 * key.length());
            units.asCharBuffer().put(key);
            return HEX.formatHex(mac.doFinal(units.array()));
        } catch (GeneralSecurityException ex) {
            throw new IllegalStateException("Every JDK has " + ALGORITHM, ex);
        }
    }
}
