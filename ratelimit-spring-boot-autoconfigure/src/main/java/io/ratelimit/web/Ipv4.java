package io.ratelimit.web;

/** Addresses of IPv4: four decimal numbers, nothing shorter. */
final class Ipv4 {

    private Ipv4() {}

    /** The address as a number, or -1 if the text is none. */
    static long parse(String text) {
        String[] parts = text.split("\\.", -1);
        if (parts.length != 4) {
            return -1;
        }
        long address = 0;
        for (String part : parts) {
            int number = number(part);
            if (number < 0) {
                return -1;
            }
            address = (address << 8) | number;
        }
        return address;
    }

    private static int number(String part) {
        if (part.isEmpty() || part.length() > 3) {
            return -1;
        }
        int number = 0;
        for (int i = 0; i < part.length(); i++) {
            char digit = part.charAt(i);
            if (digit < '0' || digit > '9') {
                return -1;
            }
            number = number * 10 + digit - '0';
        }
        return number > 255 ? -1 : number;
    }
}
