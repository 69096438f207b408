package io.ratelimit.store;

import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/** What stores keep instead of a key that is long: callers choose keys, and must not choose how much memory they take. */
public final class KeyDigest {

    /** The longest key that is kept as it is, in characters. */
    public static final int LONGEST_KEY = 128;

    private static final HexFormat HEX = HexFormat.of().withUpperCase();

    private KeyDigest() {}

    /** SHA-256 of the UTF-16 units as they are: every encoder makes unpaired surrogates the same. In hexadecimal. */
    public static String of(String key) {
        ByteBuffer units = ByteBuffer.allocate(2 * key.length());
        units.asCharBuffer().put(key);
        try {
            return HEX.formatHex(MessageDigest.getInstance("SHA-256").digest(units.array()));
        } catch (NoSuchAlgorithmException ex) {
            throw new IllegalStateException("Every JDK has SHA-256", ex);
        }
    }
}
