package io.ratelimit.spi;

import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/** Replaces a long key by its digest: callers choose keys, and must not choose how much memory they take. */
public final class KeyDigest {

    /** The length of the longest key that is stored unchanged, in characters. */
    public static final int LONGEST_KEY = 128;

    private static final HexFormat HEX = HexFormat.of().withUpperCase();

    private KeyDigest() {}

    /** Returns the SHA-256 of the UTF-16 code units in hexadecimal. An encoding would map all unpaired surrogates to one character. */
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
