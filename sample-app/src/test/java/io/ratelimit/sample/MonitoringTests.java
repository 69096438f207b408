package io.ratelimit.sample;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.ratelimit.testing.LongRunning;
import io.ratelimit.testing.redis.SharedRedis;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.beans.factory.config.YamlMapFactoryBean;
import org.springframework.boot.json.JsonParserFactory;
import org.springframework.core.io.FileSystemResource;

/**
 * The alerts and the dashboard of {@code monitoring/} name what two instances of the sample expose. If this machine has a
 * Prometheus, it evaluates every expression.
 */
@LongRunning
class MonitoringTests {

    private static final Path MONITORING = Path.of("..", "monitoring");

    private static final Path ALERTS = MONITORING.resolve("alerts.yml");

    private static final Path DASHBOARD = MONITORING.resolve("grafana/ratelimits.json");

    /** What Prometheus adds to each sample. */
    private static final Set<String> TARGET_LABELS = Set.of("job", "instance");

    private static final Pattern LINE = Pattern.compile("(\\w+)(?:\\{(.*)})? \\S+");

    private static final Pattern LABEL = Pattern.compile("(\\w+)=\"([^\"]*)\"");

    private static final Pattern REFERENCE = Pattern.compile("\\{\\{\\s*(?:\\$labels\\.)?(\\w+)\\s*}}");

    private static final Pattern LABEL_VALUES = Pattern.compile("label_values\\((.*), (\\w+)\\)");

    private static Sample one;

    private static Sample other;

    /** By metric and label. */
    private static Map<String, Map<String, Set<String>>> exposed;

    @BeforeAll
    static void start() {
        String keyPrefix = Sample.newKeyPrefix();
        one = start(keyPrefix);
        other = start(keyPrefix);
        exposed = exposed();
    }

    /** With a limit that holds permits and a further server, every meter is there. */
    private static Sample start(String keyPrefix) {
        SharedRedis redis = SharedRedis.get();
        return Sample.startOnSharedRedis(
                keyPrefix,
                Sample.CONCURRENCY[0],
                Sample.CONCURRENCY[1],
                "ratelimit.limits.exports.redis=eu",
                "ratelimit.redis.eu.host=" + redis.host(),
                "ratelimit.redis.eu.port=" + redis.port());
    }

    @AfterAll
    static void stop() {
        one.close();
        other.close();
    }

    @Test
    void expressionsNameWhatTheSampleExposes() throws IOException {
        List<Expression> expressions = expressions();

        assertThat(expressions).hasSizeGreaterThan(25);
        assertThat(expressions).allSatisfy(MonitoringTests::assertExposed);
    }

    /** A meter that is added later is not forgotten. */
    @Test
    void dashboardShowsEveryMeter() throws IOException {
        Set<String> shown = new TreeSet<>();
        expressions()
                .forEach(expression ->
                        shown.addAll(PromQl.read(expression.text).matchers().keySet()));

        assertThat(exposed.keySet())
                .filteredOn(metric -> metric.startsWith("ratelimit_"))
                .isSubsetOf(shown);
    }

    @Test
    void prometheusEvaluatesEveryExpression(@TempDir Path directory) throws Exception {
        Optional<Path> program = PrometheusServer.find("prometheus");
        assumeTrue(program.isPresent(), "There is no prometheus on the PATH");
        try (PrometheusServer prometheus =
                PrometheusServer.start(program.get(), directory, ALERTS, List.of(one, other))) {
            use(one);
            use(other);
            prometheus.awaitScrapes(2);

            for (Expression expression : expressions()) {
                List<Object> result = prometheus.query(expression.forPrometheus());
                if (!expression.compares()) {
                    assertThat(result).as(expression.toString()).isNotEmpty();
                }
            }
            await().atMost(Duration.ofSeconds(30))
                    .untilAsserted(() -> assertThat(prometheus.ruleGroups())
                            .isNotEmpty()
                            .allSatisfy(group -> assertThat(maps(group, "rules"))
                                    .allSatisfy(rule -> assertThat(rule).containsEntry("health", "ok"))));
        }
    }

    @Test
    void promtoolFindsNoMistakeInTheAlerts(@TempDir Path directory) throws Exception {
        Optional<Path> program = PrometheusServer.find("promtool");
        assumeTrue(program.isPresent(), "There is no promtool on the PATH");

        assertSucceeds(directory, program.get(), "check", "rules", "alerts.yml");
        assertSucceeds(directory, program.get(), "test", "rules", "alerts_test.yml");
        assertSucceeds(directory, program.get(), "check", "config", "prometheus.yml");
    }

    /** What the files of the composition mount and name is there. */
    @Test
    void compositionMountsWhatExists() {
        Map<String, Object> services =
                map(yaml(MONITORING.resolve("compose.yaml")).get("services"));

        assertThat(services.keySet()).contains("redis", "sample-1", "sample-2", "prometheus", "grafana");
        services.values()
                .forEach(service -> strings(map(service).get("volumes")).stream()
                        .map(volume -> MONITORING.resolve(volume.substring(0, volume.indexOf(":"))))
                        .filter(file -> !file.toString().endsWith(".jar"))
                        .forEach(file -> assertThat(file).exists()));
        String targets =
                yaml(MONITORING.resolve("prometheus.yml")).get("scrape_configs").toString();
        assertThat(targets).contains("sample-1:8080", "sample-2:8080", "/actuator/prometheus");
    }

    private static void assertExposed(Expression expression) {
        PromQl named = PromQl.read(expression.text);
        assertThat(named.matchers()).as(expression.toString()).isNotEmpty();
        named.matchers().forEach((metric, matchers) -> {
            Map<String, Set<String>> labels = metric.equals("up") ? Map.of() : exposed.get(metric);
            assertThat(labels)
                    .as("%s: the sample exposes no %s", expression, metric)
                    .isNotNull();
            Set<String> known = new HashSet<>(labels.keySet());
            known.addAll(TARGET_LABELS);
            assertThat(known)
                    .as(expression.toString())
                    .containsAll(matchers.keySet())
                    .containsAll(named.grouping());
            matchers.forEach((label, value) -> {
                if (value != null) {
                    assertThat(labels.get(label)).as(expression.toString()).contains(value);
                }
            });
            assertThat(named.grouping().isEmpty() ? known : named.grouping())
                    .as(expression.toString())
                    .containsAll(expression.references);
        });
    }

    private static List<Expression> expressions() throws IOException {
        List<Expression> expressions = new ArrayList<>();
        maps(yaml(ALERTS), "groups")
                .forEach(group -> maps(group, "rules").forEach(rule -> {
                    String texts = rule.get("annotations").toString();
                    expressions.add(new Expression(rule.get("alert"), rule.get("expr"), references(texts)));
                }));
        Map<String, Object> dashboard = JsonParserFactory.getJsonParser().parseMap(Files.readString(DASHBOARD));
        forEachMap(dashboard, (place, map) -> {
            if (map.containsKey("expr")) {
                expressions.add(new Expression(place, map.get("expr"), references((String) map.get("legendFormat"))));
            }
            if ("query".equals(map.get("type"))) {
                Matcher values = LABEL_VALUES.matcher((String) map.get("definition"));
                assertThat(values.matches()).as(place).isTrue();
                expressions.add(new Expression(place, values.group(1), Set.of(values.group(2))));
            }
        });
        return expressions;
    }

    private static Set<String> references(String text) {
        Set<String> names = new HashSet<>();
        REFERENCE.matcher(text).results().forEach(reference -> names.add(reference.group(1)));
        return names;
    }

    private static void forEachMap(Object json, BiConsumer<String, Map<String, Object>> visitor) {
        forEachMap("dashboard", json, visitor);
    }

    private static void forEachMap(String place, Object json, BiConsumer<String, Map<String, Object>> visitor) {
        if (json instanceof Map) {
            Map<String, Object> map = map(json);
            String here = map.get("title") instanceof String title ? title : place;
            visitor.accept(here, map);
            map.values().forEach(value -> forEachMap(here, value, visitor));
        } else if (json instanceof List<?> list) {
            list.forEach(value -> forEachMap(place, value, visitor));
        }
    }

    private static Map<String, Map<String, Set<String>>> exposed() {
        use(one);
        Map<String, Map<String, Set<String>>> metrics = new HashMap<>();
        String scraped = one.get("/actuator/prometheus")
                .expectBody(String.class)
                .returnResult()
                .getResponseBody();
        scraped.lines()
                .filter(line -> !line.startsWith("#"))
                .map(LINE::matcher)
                .filter(Matcher::matches)
                .forEach(line -> {
                    Map<String, Set<String>> labels = metrics.computeIfAbsent(line.group(1), metric -> new HashMap<>());
                    if (line.group(2) != null) {
                        LABEL.matcher(line.group(2))
                                .results()
                                .forEach(label -> labels.computeIfAbsent(label.group(1), name -> new HashSet<>())
                                        .add(label.group(2)));
                    }
                });
        return metrics;
    }

    private static void use(Sample sample) {
        for (int call = 0; call < 6; call++) {
            sample.quote("prometheus");
        }
    }

    private static void assertSucceeds(Path directory, Path program, String... arguments) throws Exception {
        Path output = directory.resolve("output");
        List<String> command = new ArrayList<>(List.of(program.toString()));
        command.addAll(List.of(arguments));
        // The paths of prometheus.yml are those of this directory.
        Process process = new ProcessBuilder(command)
                .directory(MONITORING.toFile())
                .redirectErrorStream(true)
                .redirectOutput(output.toFile())
                .start();
        assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
        assertThat(process.exitValue()).as(Files.readString(output)).isZero();
    }

    private static Map<String, Object> yaml(Path file) {
        YamlMapFactoryBean yaml = new YamlMapFactoryBean();
        yaml.setResources(new FileSystemResource(file));
        return yaml.getObject();
    }

    @SuppressWarnings("unchecked")
    private static Map<String, Object> map(Object value) {
        return (Map<String, Object>) value;
    }

    @SuppressWarnings("unchecked")
    private static List<Map<String, Object>> maps(Object parent, String name) {
        return (List<Map<String, Object>>) map(parent).get(name);
    }

    @SuppressWarnings("unchecked")
    private static List<String> strings(Object value) {
        return value == null ? List.of() : (List<String>) value;
    }

    /**
     * @param place the alert or the panel
     * @param references the labels that its texts name
     */
    private record Expression(String place, String text, Set<String> references) {

        Expression(Object place, Object text, Set<String> references) {
            this((String) place, ((String) text).strip(), references);
        }

        /** As Grafana sends it. */
        String forPrometheus() {
            return text.replace("$__rate_interval", "1m").replace("$job", ".*").replace("$limit", ".*");
        }

        /** Whether the result is empty if all is well. */
        boolean compares() {
            return text.contains("!= ") || text.contains(" > ") || text.contains(" == 0");
        }

        @Override
        public String toString() {
            return place + ": " + text;
        }
    }
}
