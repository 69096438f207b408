package io.ratelimit.web;

import org.jspecify.annotations.Nullable;

/**
 * Makes of what a container reports one text for each caller. Whoever has an address of IPv6 has a whole network of them,
 * so the network counts; an address of IPv4 counts by itself. Never asks a name server.
 */
final class ClientAddress {

    private final int prefix;

    /** @param prefix how many bits of an IPv6 address are the caller's network, 1 to 128 */
    ClientAddress(int prefix) {
        this.prefix = prefix;
    }

    /** The caller's address, or network such as {@code 2001:db8:0:1::/64}; what is no address is left as it is. */
    String of(@Nullable String reported) {
        if (reported == null) {
            return "";
        }
        String host = host(reported);
        if (host.indexOf(':') < 0) {
            return host.equals(reported) || Ipv4.parse(host) >= 0 ? host : reported;
        }
        int zone = host.indexOf('%');
        Ipv6 address = Ipv6.parse(zone < 0 ? host : host.substring(0, zone));
        return address == null ? reported : text(address);
    }

    private String text(Ipv6 address) {
        if (address.isIpv4()) {
            return address.ipv4();
        }
        return prefix == 128 ? address.toString() : address.network(prefix) + "/" + prefix;
    }

    /** Without the brackets and the port that some containers leave. */
    private static String host(String reported) {
        int colon = reported.indexOf(':');
        if (colon < 0) {
            return reported;
        }
        int bracket = reported.indexOf(']');
        if (reported.charAt(0) == '[' && bracket > 0 && isPort(reported, bracket + 1)) {
            return reported.substring(1, bracket);
        }
        return colon == reported.lastIndexOf(':') && isPort(reported, colon) ? reported.substring(0, colon) : reported;
    }

    /** Whether nothing but a port follows, if that. */
    private static boolean isPort(String text, int start) {
        return start == text.length()
                || (text.charAt(start) == ':'
                        && text.chars().skip(start + 1L).allMatch(digit -> digit >= '0' && digit <= '9'));
    }
}
