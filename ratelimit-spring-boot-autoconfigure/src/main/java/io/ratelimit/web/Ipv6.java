package io.ratelimit.web;

import org.jspecify.annotations.Nullable;

/** An address of IPv6, in two halves. Reads every spelling of RFC 4291, writes the one of RFC 5952. */
record Ipv6(long high, long low) {

    private static final int GROUPS = 8;

    /** The address, or {@code null} if the text is none. Looks nothing up. */
    static @Nullable Ipv6 parse(String text) {
        int gap = text.indexOf("::");
        int[] groups = new int[GROUPS];
        if (gap < 0) {
            return groupsOf(text, groups) == GROUPS ? of(groups) : null;
        }
        int[] tail = new int[GROUPS];
        int before = groupsOf(text.substring(0, gap), groups);
        int after = groupsOf(text.substring(gap + 2), tail);
        boolean ipv4InFront = text.lastIndexOf('.', gap) >= 0;
        if (before < 0 || after < 0 || before + after >= GROUPS || ipv4InFront) {
            return null;
        }
        System.arraycopy(tail, 0, groups, GROUPS - after, after);
        return of(groups);
    }

    /** Reads groups between colons, the last two of which may be an address of IPv4; how many, or -1. */
    private static int groupsOf(String text, int[] groups) {
        if (text.isEmpty()) {
            return 0;
        }
        String[] parts = text.split(":", -1);
        int count = 0;
        for (int i = 0; i < parts.length; i++) {
            boolean ipv4 = i == parts.length - 1 && parts[i].indexOf('.') >= 0;
            if (count + (ipv4 ? 2 : 1) > GROUPS) {
                return -1;
            }
            long value = ipv4 ? Ipv4.parse(parts[i]) : hex(parts[i]);
            if (value < 0) {
                return -1;
            }
            if (ipv4) {
                groups[count++] = (int) (value >>> 16);
            }
            groups[count++] = (int) (value & 0xffff);
        }
        return count;
    }

    private static int hex(String group) {
        if (group.isEmpty() || group.length() > 4) {
            return -1;
        }
        int value = 0;
        for (int i = 0; i < group.length(); i++) {
            char digit = group.charAt(i);
            int four = digit < 128 ? Character.digit(digit, 16) : -1;
            if (four < 0) {
                return -1;
            }
            value = (value << 4) | four;
        }
        return value;
    }

    private static Ipv6 of(int[] groups) {
        long high = 0;
        long low = 0;
        for (int i = 0; i < GROUPS / 2; i++) {
            high = (high << 16) | groups[i];
            low = (low << 16) | groups[i + GROUPS / 2];
        }
        return new Ipv6(high, low);
    }

    boolean isIpv4() {
        return high == 0 && low >>> 32 == 0xffff;
    }

    /** The address of IPv4 that is mapped into this one. */
    String ipv4() {
        return ((low >>> 24) & 0xff) + "." + ((low >>> 16) & 0xff) + "." + ((low >>> 8) & 0xff) + "." + (low & 0xff);
    }

    /** The first bits of it, and then zeros. */
    Ipv6 network(int bits) {
        return new Ipv6(high & mask(bits), low & mask(bits - Long.SIZE));
    }

    private static long mask(int bits) {
        return bits <= 0 ? 0 : bits >= Long.SIZE ? -1 : -1L << (Long.SIZE - bits);
    }

    /** Lower case, no leading zeros, and the longest row of zeros left out, the first of equally long ones. */
    @Override
    public String toString() {
        int from = -1;
        int to = -1;
        for (int i = 0; i < GROUPS; i++) {
            int end = i;
            while (end < GROUPS && group(end) == 0) {
                end++;
            }
            if (end - i > Math.max(1, to - from)) {
                from = i;
                to = end;
            }
        }
        StringBuilder text = new StringBuilder(39);
        for (int i = 0; i < GROUPS; i++) {
            if (i == from) {
                text.append("::");
                i = to - 1;
            } else {
                text.append(i == 0 || i == to ? "" : ":").append(Integer.toHexString(group(i)));
            }
        }
        return text.toString();
    }

    private int group(int index) {
        long half = index < GROUPS / 2 ? high : low;
        return (int) (half >>> (16 * (GROUPS / 2 - 1 - index % (GROUPS / 2)))) & 0xffff;
    }
}
