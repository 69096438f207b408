package io.ratelimit.redis;

import io.ratelimit.documentation.MarkdownPage;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/** The permissions that a user of Redis needs, as docs/redis-reference.md lists them. */
final class DocumentedAcl {

    static final String USER = "ratelimit";

    static final String PASSWORD = "secret";

    private DocumentedAcl() {}

    /** Every command is allowed by a word of its own, such as {@code +get}. */
    static List<String> rules() {
        return words("(?m)^ACL SETUSER " + USER + " (on >" + PASSWORD + " .*)$");
    }

    /** What is to be allowed besides on each node of a cluster. */
    static List<String> clusterRules() {
        return Stream.concat(rules().stream(), words("- on each node of a cluster: `(.*)`").stream())
                .toList();
    }

    /** What is to be allowed besides for functions. */
    static List<String> functionRules() {
        return words("- for \\[functions\\]\\(#functions\\), on Redis 7 and Valkey: `(.*?)`");
    }

    static List<String> sentinelRules() {
        return words("(?s)- of each Sentinel,.*?\\): `(.*?)`");
    }

    static List<String> without(String command, List<String> rules) {
        return rules.stream().filter(rule -> !rule.equals(command)).toList();
    }

    static Stream<String> commands(List<String> rules) {
        return rules.stream().filter(rule -> rule.startsWith("+"));
    }

    /** Makes the user anew, with these rules and nothing else. */
    static void setUser(LettuceConnectionFactory server, List<String> rules) {
        acl(server, Stream.concat(Stream.of("SETUSER", USER, "reset"), rules.stream()));
    }

    /** A client without a name has no rights. Connections that are there stay. */
    static void setDefaultUserOff(LettuceConnectionFactory server) {
        acl(server, Stream.of("SETUSER", "default", "off"));
    }

    private static void acl(LettuceConnectionFactory server, Stream<String> words) {
        byte[][] arguments =
                words.map(word -> word.getBytes(StandardCharsets.US_ASCII)).toArray(byte[][]::new);
        try (RedisConnection connection = server.getConnection()) {
            connection.execute("ACL", arguments);
        }
    }

    private static List<String> words(String pattern) {
        Matcher matcher = Pattern.compile(pattern)
                .matcher(MarkdownPage.of("docs/redis-reference.md").text());
        if (!matcher.find()) {
            throw new AssertionError("docs/redis-reference.md has no " + pattern);
        }
        return Arrays.asList(matcher.group(1).split(" "));
    }
}
