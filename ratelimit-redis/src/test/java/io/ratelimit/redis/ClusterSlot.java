package io.ratelimit.redis;

/** The slot of a key in a Redis cluster, as the cluster specification defines it. */
public final class ClusterSlot {

    private static final int SLOTS = 16_384;

    private ClusterSlot() {}

    public static int of(byte[] key) {
        int open = indexOf(key, '{', 0);
        int close = open < 0 ? -1 : indexOf(key, '}', open + 1);
        boolean tagged = close > open + 1;
        int from = tagged ? open + 1 : 0;
        int to = tagged ? close : key.length;
        int crc = 0;
        for (int i = from; i < to; i++) {
            crc = crc16(crc, key[i]);
        }
        return crc % SLOTS;
    }

    private static int indexOf(byte[] key, char wanted, int from) {
        for (int i = from; i < key.length; i++) {
            if (key[i] == wanted) {
                return i;
            }
        }
        return -1;
    }

    /** CRC-16/XMODEM. */
    private static int crc16(int crc, byte next) {
        int value = crc ^ ((next & 0xff) << 8);
        for (int bit = 0; bit < 8; bit++) {
            value = (value & 0x8000) == 0 ? value << 1 : (value << 1) ^ 0x1021;
        }
        return value & 0xffff;
    }
}
