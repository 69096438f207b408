package io.ratelimit.web;

import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Maps the address that a container reports to one text per caller. A caller with IPv6 usually has a whole network, so the
 * text is the network; an IPv4 address is used as it is. Never asks a name server.
 *
 * @param prefix the number of leading bits of an IPv6 address that identify the caller's network, 1 to 128
 */
record ClientAddressNormalizer(int prefix) {

    /** Runs of zeros, the longest one first. */
    private static final List<Pattern> ZEROS = IntStream.iterate(7, more -> more > 0, more -> more - 1)
            .mapToObj(more -> Pattern.compile("(?:^|:)0(?::0){" + more + "}(?:$|:)"))
            .toList();

    private static final String OCTET = "(?:25[0-5]|2[0-4]\\d|[01]?\\d?\\d)";

    private static final Pattern IPV4 = Pattern.compile(OCTET + "(?:\\." + OCTET + "){3}");

    /** Returns the caller's address, or its network such as {@code 2001:db8:0:1::/64}. Other text is returned unchanged. */
    String normalize(@Nullable String reported) {
        if (reported == null) {
            return "";
        }
        String host = host(reported);
        if (host.indexOf(':') < 0) {
            return host.equals(reported) || IPV4.matcher(host).matches() ? host : reported;
        }
        InetAddress address = parse(host);
        if (address == null) {
            return reported;
        }
        return address instanceof Inet6Address ? network(address.getAddress()) : address.getHostAddress();
    }

    /** Removes the brackets and the port that containers leave, also where the brackets enclose both. */
    private static String host(String reported) {
        int bracket = reported.indexOf(']');
        return reported.startsWith("[") && bracket > 0 && isPort(reported, bracket + 1)
                ? withoutPort(reported.substring(1, bracket))
                : withoutPort(reported);
    }

    /** A text with more than one colon is an IPv6 address, without a port. */
    private static String withoutPort(String host) {
        int colon = host.indexOf(':');
        return colon >= 0 && colon == host.lastIndexOf(':') && isPort(host, colon) ? host.substring(0, colon) : host;
    }

    /** Whether the rest of the text is empty or a port. */
    private static boolean isPort(String text, int start) {
        return start == text.length()
                || (text.charAt(start) == ':'
                        && text.chars().skip(start + 1L).allMatch(digit -> digit >= '0' && digit <= '9'));
    }

    /** Parses an IPv6 address without its zone. The JDK rejects a text with a colon instead of looking it up as a name. */
    private static @Nullable InetAddress parse(String host) {
        int zone = host.indexOf('%');
        String address = zone < 0 ? host : host.substring(0, zone);
        try {
            return address.indexOf(':') < 0 ? null : InetAddress.getByName("[" + address + "]");
        } catch (UnknownHostException ex) {
            return null;
        }
    }

    private String network(byte[] address) {
        for (int i = prefix / Byte.SIZE; i < address.length; i++) {
            address[i] &= (byte) (0xff00 >> Math.max(0, prefix - i * Byte.SIZE));
        }
        return prefix == 128 ? text(address) : text(address) + "/" + prefix;
    }

    /** Formats by RFC 5952: the first of the longest runs of zeros is left out. The JDK writes them all. */
    private static String text(byte[] address) {
        String text = address(address).getHostAddress();
        for (Pattern zeros : ZEROS) {
            Matcher run = zeros.matcher(text);
            if (run.find()) {
                return run.replaceFirst("::");
            }
        }
        return text;
    }

    /** Also of an IPv4 address in IPv6, which the JDK would take for the former. */
    private static Inet6Address address(byte[] address) {
        try {
            return Inet6Address.getByAddress(null, address, -1);
        } catch (UnknownHostException ex) {
            throw new IllegalArgumentException(ex);
        }
    }
}
