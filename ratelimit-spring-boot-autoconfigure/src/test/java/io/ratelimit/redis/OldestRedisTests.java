package io.ratelimit.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.documentation.MarkdownPage;
import io.ratelimit.testing.redis.RedisProcess;
import java.io.IOException;
import java.lang.module.ModuleDescriptor.Version;
import java.nio.charset.StandardCharsets;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledIf;
import org.springframework.core.io.Resource;
import org.springframework.core.io.support.PathMatchingResourcePatternResolver;

/** Why docs/redis-reference.md names that version as the oldest: by the commands that the scripts call. */
@DisabledIf(value = "io.ratelimit.testing.redis.RedisProcess#isBefore7", disabledReason = "has no COMMAND DOCS")
class OldestRedisTests {

    private static final Pattern COMMAND = Pattern.compile("(?:call|read)\\('([A-Z]+)'(.*)");

    private static final Pattern OPTION = Pattern.compile(", '([A-Z]+)'");

    /** By command, or by command and option: since which Redis it exists. */
    private final Map<String, Version> since = new TreeMap<>();

    @Test
    void youngestCommandOfTheScriptsIsTheOneOfThePage() throws IOException {
        try (RedisProcess redis = RedisProcess.server()) {
            commands().forEach((command, options) -> ask(redis, command, options));
        }
        assertThat(since).hasSizeGreaterThan(15).containsKeys("TIME", "HSET", "SET PX");
        String youngest =
                Collections.max(since.entrySet(), Map.Entry.comparingByValue()).getKey();
        assertThat(youngest).as("of %s", since).isEqualTo("SET KEEPTTL");
        assertThat(since.get(youngest)).hasToString("6.0.0");
        assertThat(MarkdownPage.of("docs/redis-reference.md").text())
                .contains("`SET … KEEPTTL`, since 6.0: `redis-cli command docs set`");
    }

    /** Returns what the scripts call, with the options that they use. */
    private static Map<String, Set<String>> commands() throws IOException {
        Map<String, Set<String>> commands = new HashMap<>();
        for (Resource script :
                new PathMatchingResourcePatternResolver().getResources("classpath*:io/ratelimit/redis/*.lua")) {
            for (String line :
                    script.getContentAsString(StandardCharsets.UTF_8).lines().toList()) {
                Matcher command = COMMAND.matcher(line);
                while (command.find()) {
                    Set<String> options = commands.computeIfAbsent(command.group(1), first -> new TreeSet<>());
                    OPTION.matcher(command.group(2)).results().forEach(option -> options.add(option.group(1)));
                }
            }
        }
        return commands;
    }

    private void ask(RedisProcess redis, String command, Set<String> options) {
        Map<String, Object> known = map(((List<?>) redis.send("COMMAND", "DOCS", command)).get(1));
        Version version = Version.parse((String) known.get("since"));
        since.put(command, version);
        options.forEach(option -> since.put(command + " " + option, null));
        readArguments(command, version, known);
        assertThat(since).doesNotContainValue(null);
    }

    private void readArguments(String command, Version version, Map<String, Object> parent) {
        for (Object argument : (List<?>) parent.getOrDefault("arguments", List.of())) {
            Map<String, Object> known = map(argument);
            Version own = known.containsKey("since") ? Version.parse((String) known.get("since")) : version;
            since.replace(command + " " + known.get("token"), own);
            readArguments(command, own, known);
        }
    }

    private static Map<String, Object> map(Object namesAndValues) {
        List<?> list = (List<?>) namesAndValues;
        Map<String, Object> map = new HashMap<>();
        for (int i = 0; i < list.size(); i += 2) {
            map.put((String) list.get(i), list.get(i + 1));
        }
        return map;
    }
}
