package io.ratelimit.web;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.testing.TestRandom;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.Arrays;
import java.util.Locale;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ClientAddressNormalizerTests {

    private static final int ADDRESSES = 20_000;

    @ParameterizedTest
    @CsvSource({
        "2001:db8:0:1:aaaa:bbbb:cccc:dddd, 2001:db8:0:1::/64",
        "2001:0DB8:0000:0001::1, 2001:db8:0:1::/64",
        "[2001:db8:0:1::1], 2001:db8:0:1::/64",
        "[2001:db8:0:1::1]:8080, 2001:db8:0:1::/64",
        "fe80:0:0:0:1:2:3:4%eth0, fe80::/64",
        "[fe80::1%25en0]:80, fe80::/64",
        "::1, ::/64",
        "::, ::/64",
        "2001:db8::192.0.2.1, 2001:db8::/64",
        "1:2:3:4:5:6:7::, 1:2:3:4::/64",
        "::2:3:4:5:6:7:8, 0:2:3:4::/64",
        "::ffff:192.0.2.1, 192.0.2.1",
        "::FFFF:c000:0201, 192.0.2.1",
        "0:0:0:0:0:ffff:c0:1, 0.192.0.1",
        "[::ffff:192.0.2.1]:443, 192.0.2.1",
        "192.0.2.1, 192.0.2.1",
        "192.0.2.1:8080, 192.0.2.1",
        "[192.0.2.1:8080], 192.0.2.1",
        "[192.0.2.1], 192.0.2.1",
        "[192.0.2.1]:8080, 192.0.2.1",
        "010.0.2.1, 010.0.2.1",
    })
    void oneTextForEachCaller(String reported, String text) {
        assertThat(new ClientAddressNormalizer(64).normalize(reported)).isEqualTo(text);
    }

    @ParameterizedTest
    @CsvSource({
        "128, 2001:db8:ffff:ffff:ffff:ffff:ffff:ffff",
        "127, 2001:db8:ffff:ffff:ffff:ffff:ffff:fffe/127",
        "65, 2001:db8:ffff:ffff:8000::/65",
        "63, 2001:db8:ffff:fffe::/63",
        "48, 2001:db8:ffff::/48",
        "1, ::/1",
    })
    void prefixIsTheNetwork(int prefix, String text) {
        assertThat(new ClientAddressNormalizer(prefix).normalize("2001:db8:ffff:ffff:ffff:ffff:ffff:ffff"))
                .isEqualTo(text);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "localhost",
                "localhost:8080",
                "unknown",
                "_hidden",
                "example.org",
                "cafe::example.org",
                "zz::1",
                "1::2::3",
                "1:2:3:4:5:6:7",
                "1:2:3:4:5:6:7:8:9",
                "1:2:3:4:5:6:7:8::",
                "12345::",
                ":1",
                "1:",
                "::g",
                "::1.2.3",
                "::1.2.3.256",
                "1.2.3.4::",
                "1.2.3.4::1",
                "::1.2.3.4:5",
                ":::",
                "[::1",
                "[::1]x",
                "[::1]:x",
                "[localhost:80]",
                "[192.0.2.1:x]",
                "[192.0.2.256:80]",
                "[]",
                "[",
                ":",
                "%",
                "::١",
                "192.0.2.1:x",
                "192.0.2.256:80",
                "1.2.3:80",
                "/tmp/socket",
                "cafe%::1",
            })
    void whatIsNoAddressIsLeftAsItIs(String reported) {
        assertThat(new ClientAddressNormalizer(64).normalize(reported)).isEqualTo(reported);
    }

    @Test
    void containerThatKnowsNoAddressReportsNone() {
        assertThat(new ClientAddressNormalizer(64).normalize(null)).isEmpty();
    }

    @Test
    void everySpellingOfEveryAddressIsOneText() throws UnknownHostException {
        Random random = TestRandom.create(getClass());
        for (int i = 0; i < ADDRESSES; i++) {
            byte[] address = address(random);
            int prefix = random.nextInt(1, 129);
            String expected = expected(address, prefix);
            for (int spelling = 0; spelling < 3; spelling++) {
                String reported = spelled(address, random);
                assertThat(new ClientAddressNormalizer(prefix).normalize(reported))
                        .as("%s, prefix %s", reported, prefix)
                        .isEqualTo(expected);
            }
        }
    }

    /** With many zeros, which is where spellings differ. */
    private static byte[] address(Random random) {
        byte[] address = new byte[16];
        random.nextBytes(address);
        for (int group = 0; group < 8; group++) {
            if (random.nextBoolean()) {
                address[2 * group] = 0;
                address[2 * group + 1] = random.nextInt(4) == 0 ? address[2 * group + 1] : 0;
            }
        }
        return address;
    }

    /** By the JDK, and by the words of RFC 5952. */
    private static String expected(byte[] address, int prefix) throws UnknownHostException {
        if (!(InetAddress.getByAddress(address) instanceof Inet6Address)) {
            return InetAddress.getByAddress(address).getHostAddress();
        }
        byte[] network = address.clone();
        for (int bit = prefix; bit < 128; bit++) {
            network[bit / 8] &= (byte) ~(0x80 >> bit % 8);
        }
        String full = groups(network, "%x");
        String shortest = full;
        for (int zeros = 8; zeros >= 2 && shortest.equals(full); zeros--) {
            shortest = full.replaceFirst("(?<![0-9a-f])0(:0){%d}(?![0-9a-f])".formatted(zeros - 1), ":")
                    .replaceFirst("^(.+):::(.+)$", "$1::$2")
                    .replaceFirst("^:::?", "::")
                    .replaceFirst(":::?$", "::");
        }
        return (shortest.equals(":") ? "::" : shortest) + (prefix == 128 ? "" : "/" + prefix);
    }

    private static String spelled(byte[] address, Random random) {
        String text = groups(address, random.nextBoolean() ? "%04x" : "%x");
        if (random.nextBoolean()) {
            String[] ends = text.split(":");
            text = String.join(":", Arrays.copyOf(ends, 6)) + ":" + (address[12] & 0xff) + "." + (address[13] & 0xff)
                    + "." + (address[14] & 0xff) + "." + (address[15] & 0xff);
        }
        if (random.nextBoolean()) {
            text = shortened(text, random);
        }
        text = random.nextBoolean() ? text.toUpperCase(Locale.ROOT) : text;
        text = random.nextInt(4) == 0 ? text + "%eth" + random.nextInt(3) : text;
        return switch (random.nextInt(4)) {
            case 0 -> "[" + text + "]";
            case 1 -> "[" + text + "]:" + random.nextInt(65_536);
            default -> text;
        };
    }

    /** Leaves out some row of zeros, not always the longest. */
    private static String shortened(String text, Random random) {
        String[] groups = text.split(":");
        int from = random.nextInt(groups.length);
        int to = from;
        while (to < groups.length && groups[to].matches("0+") && random.nextInt(8) > 0) {
            to++;
        }
        return to == from
                ? text
                : String.join(":", Arrays.copyOf(groups, from)) + "::"
                        + String.join(":", Arrays.copyOfRange(groups, to, groups.length));
    }

    private static String groups(byte[] address, String format) {
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < 16; i += 2) {
            text.append(i == 0 ? "" : ":")
                    .append(format.formatted(((address[i] & 0xff) << 8) | (address[i + 1] & 0xff)));
        }
        return text.toString();
    }
}
