package io.ratelimit.documentation;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.RateLimitConfigurationException;
import io.ratelimit.autoconfigure.RateLimitAutoConfiguration;
import io.ratelimit.testing.LongRunning;
import io.ratelimit.testing.OwnAlgorithms.Tolerant;
import io.ratelimit.testing.Sources;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.core.NestedExceptionUtils;

/** The record of combinations says of each pair of features whether an application with both starts. */
@LongRunning
class CombinationTests {

    private static final MarkdownPage RECORD = MarkdownPage.of("docs/adr/0065-what-combines.md");

    /** What is set for a limit with the feature, below {@code ratelimit.limits.combined}. */
    private static final Map<String, List<String>> FEATURES = Map.ofEntries(
            Map.entry("token bucket", List.of("algorithm=token-bucket", "rate=10/s")),
            Map.entry("interval", List.of("algorithm=token-bucket", "refill=interval", "rate=10/s")),
            Map.entry("leaky bucket", List.of("algorithm=leaky-bucket", "rate=10/s")),
            Map.entry("fixed window", List.of("algorithm=fixed-window", "rate=10/s")),
            Map.entry("calendar", List.of("algorithm=fixed-window", "rate=10/day")),
            Map.entry("sliding window", List.of("algorithm=sliding-window", "rate=10/s")),
            Map.entry("log", List.of("algorithm=sliding-window-log", "rate=10/s")),
            Map.entry("own", List.of("algorithm=tolerant2", "rate=10/s")),
            Map.entry("concurrency", List.of("algorithm=concurrency", "capacity=10")),
            Map.entry("maxWait", List.of("max-wait=1s")),
            Map.entry("lease", List.of("lease=5")),
            Map.entry("blockFor", List.of("block-for=1m")),
            Map.entry("plans", List.of("plans.gold.enabled=false", "plan-expression='gold'")),
            Map.entry("permitsAfter", List.of("permits-after=#result")),
            Map.entry("refundOn", List.of("refund-on=java.lang.IllegalStateException")),
            Map.entry("instance", List.of("scope=instance")),
            Map.entry("server", List.of("redis=eu")),
            Map.entry("dry run", List.of("dry-run=true")));

    private static List<List<String>> table() {
        return RECORD.text()
                .lines()
                .takeWhile(line -> !line.equals("## Features and events"))
                .filter(line -> line.startsWith("| "))
                .map(line -> Stream.of(line.substring(1).split("\\|"))
                        .map(String::strip)
                        .toList())
                .filter(row -> row.size() > 3)
                .toList();
    }

    static Stream<Arguments> pairs() {
        List<String> columns = table().get(0);
        return table().stream()
                .skip(1)
                .flatMap(row -> IntStream.range(1, row.size())
                        .filter(i -> !row.get(i).isEmpty())
                        .mapToObj(i -> Arguments.of(row.get(0), columns.get(i), row.get(i))));
    }

    @Test
    void tableHasEachPair() {
        List<String> columns = table().get(0).subList(1, table().get(0).size());
        int ways = FEATURES.size() - columns.size();
        int attributes = columns.size();
        assertThat(pairs()).hasSize(ways * attributes + attributes * (attributes - 1) / 2);
    }

    @Test
    void testsExist() {
        Set<String> names = Sources.files("src/test/java").stream()
                .map(file -> file.getFileName().toString())
                .collect(Collectors.toSet());
        assertThat(RECORD.code())
                .filteredOn(code -> code.endsWith("Tests") || code.endsWith("Contract"))
                .hasSizeGreaterThan(20)
                .allSatisfy(test -> assertThat(names).contains(test + ".java"));
    }

    @ParameterizedTest(name = "{0}, {1}: {2}")
    @MethodSource("pairs")
    void applicationStartsUnlessThePairIsRefused(String row, String column, String cell) {
        assertThat(cell).isIn("yes", "no");
        boolean pairOfAttributes = table().get(0).contains(row);
        String[] properties = Stream.concat(
                        pairOfAttributes ? Stream.of("token bucket") : Stream.empty(), Stream.of(row, column))
                .flatMap(feature -> FEATURES.get(feature).stream())
                .map(property -> "ratelimit.limits.combined." + property)
                .toArray(String[]::new);
        new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(RateLimitAutoConfiguration.class))
                .withBean(Tolerant.class)
                .withBean(Calls.class)
                .withPropertyValues(
                        Stream.of(row, column).anyMatch("server"::equals)
                                ? "ratelimit.redis.eu.url=redis://127.0.0.1:1"
                                : "ratelimit.store=in-memory",
                        "ratelimit.redis.url=redis://127.0.0.1:1",
                        "ratelimit.limits.combined.pointcut=execution(* " + Calls.class.getName() + ".call(..))")
                .withPropertyValues(properties)
                .run(context -> {
                    if (cell.equals("yes")) {
                        assertThat(context.getStartupFailure()).isNull();
                    } else {
                        assertThat(NestedExceptionUtils.getMostSpecificCause(context.getStartupFailure()))
                                .isInstanceOf(RateLimitConfigurationException.class)
                                .hasMessageContaining("ratelimit.limits.combined.");
                    }
                });
    }

    public static class Calls {

        public long call(String key) {
            return key.length();
        }
    }
}
