package io.ratelimit.web;

import org.jspecify.annotations.Nullable;

/**
 * Makes of what a container reports one text for each caller. Whoever has an address of IPv6 has a whole network of them,
 * so the network counts; an address of IPv4 counts by itself. Never asks a name server.
 */
public final class ClientAddress {

    private final int prefix;

    /** @param prefix how many bits of an IPv6 address are the caller's network, 1 to 128 */
    ClientAddress(int prefix) {
        this.prefix = prefix;
    }

    /** The caller's address, or network such as {@code 2001:db8:0:1::/64}; what is no address is left as it is. */
    public String of(@Nullable String reported) {
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

    /** Without the brackets and the port that containers leave, also where the brackets are around both. */
    private static String host(String reported) {
        int bracket = reported.indexOf(']');
        return reported.startsWith("[") && bracket > 0 && isPort(reported, bracket + 1)
                ? withoutPort(reported.substring(1, bracket))
                : withoutPort(reported);
    }

    /** More than one colon belongs to an address of IPv6. */
    private static String withoutPort(String host) {
        int colon = host.indexOf(':');
        return colon >= 0 && colon == host.lastIndexOf(':') && isPort(host, colon) ? host.substring(0, colon) : host;
    }

    /** Whether nothing but a port follows, if that. */
    private static boolean isPort(String text, int start) {
        return start == text.length()
                || (text.charAt(start) == ':'
                        && text.chars().skip(start + 1L).allMatch(digit -> digit >= '0' && digit <= '9'));
    }
}
