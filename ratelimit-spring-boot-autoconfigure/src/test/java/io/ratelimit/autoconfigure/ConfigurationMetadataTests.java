package io.ratelimit.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import io.ratelimit.Algorithm;
import io.ratelimit.OnStoreFailure;
import io.ratelimit.Refill;
import io.ratelimit.Scope;
import io.ratelimit.autoconfigure.properties.LimitProperties;
import io.ratelimit.autoconfigure.properties.RateLimitProperties;
import io.ratelimit.internal.limit.LimitNames;
import io.ratelimit.web.HeaderFormat;
import io.ratelimit.web.RuleOrder;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.source.MapConfigurationPropertySource;
import org.springframework.boot.json.JsonParserFactory;

/** What an editor shows in application.yml. */
class ConfigurationMetadataTests {

    @Test
    void everyPropertyIsDescribed() throws IOException {
        assertThat(properties())
                .allSatisfy(property -> assertThat(property)
                        .as("%s", property.get("name"))
                        .hasEntrySatisfying(
                                "description",
                                description -> assertThat((String) description).isNotBlank()));
    }

    @Test
    void keyPrefixSaysThatApplicationsShareBuckets() throws IOException {
        assertThat(properties())
                .filteredOn(property -> "ratelimit.redis.key-prefix".equals(property.get("name")))
                .singleElement()
                .satisfies(property -> assertThat((String) property.get("description"))
                        .contains("Applications with the same prefix share the buckets"));
    }

    @Test
    void everyPropertyIsThere() throws IOException {
        assertThat(properties())
                .extracting(property -> property.get("name"))
                .containsExactlyInAnyOrder(
                        "ratelimit.enabled",
                        "ratelimit.store",
                        "ratelimit.web.headers",
                        "ratelimit.web.filter-order",
                        "ratelimit.web.ipv6-prefix",
                        "ratelimit.web.missing-key-status",
                        "ratelimit.web.outbound-status",
                        "ratelimit.on-store-failure",
                        "ratelimit.expected-instances",
                        "ratelimit.dry-run",
                        "ratelimit.partial-context",
                        "ratelimit.order",
                        "ratelimit.redis.connection-factory",
                        "ratelimit.redis.key-prefix",
                        "ratelimit.redis.timeout",
                        "ratelimit.redis.remember-rejections",
                        "ratelimit.redis.functions",
                        "ratelimit.redis.clock",
                        "ratelimit.redis.hash-keys",
                        "ratelimit.redis.hash-keys-secret",
                        "ratelimit.redis.url",
                        "ratelimit.redis.host",
                        "ratelimit.redis.port",
                        "ratelimit.redis.username",
                        "ratelimit.redis.password",
                        "ratelimit.redis.database",
                        "ratelimit.redis.client-name",
                        "ratelimit.redis.ssl.enabled",
                        "ratelimit.redis.ssl.bundle",
                        "ratelimit.redis.sentinel.master",
                        "ratelimit.redis.sentinel.nodes",
                        "ratelimit.redis.sentinel.username",
                        "ratelimit.redis.sentinel.password",
                        "ratelimit.redis.cluster.nodes",
                        "ratelimit.redis.cluster.max-redirects",
                        "ratelimit.in-memory.max-keys",
                        "ratelimit.health.store-failure",
                        "ratelimit.statistics.enabled",
                        "ratelimit.top-keys.enabled",
                        "ratelimit.dashboard.enabled",
                        "ratelimit.dashboard.path",
                        "ratelimit.metrics.plan-tag",
                        "ratelimit.observations.enabled",
                        "management.health.ratelimit.enabled",
                        "management.endpoint.ratelimits.access",
                        "management.endpoint.ratelimits.cache.time-to-live",
                        "ratelimit.defaults.algorithm",
                        "ratelimit.defaults.rate",
                        "ratelimit.defaults.key-expression",
                        "ratelimit.defaults.key-resolver",
                        "ratelimit.defaults.condition",
                        "ratelimit.defaults.refill",
                        "ratelimit.defaults.max-wait",
                        "ratelimit.defaults.block-for",
                        "ratelimit.defaults.scope",
                        "ratelimit.defaults.zone",
                        "ratelimit.defaults.dry-run",
                        "ratelimit.defaults.on-store-failure",
                        "ratelimit.defaults.refund-on",
                        "ratelimit.defaults.lease",
                        "ratelimit.defaults.hold",
                        "ratelimit.defaults.redis",
                        "ratelimit.defaults.plan-expression",
                        "ratelimit.defaults.plan-resolver",
                        "ratelimit.plans.cache",
                        "ratelimit.plans.timeout",
                        "ratelimit.limits",
                        "ratelimit.http");
    }

    @Test
    void defaultsAreThere() throws IOException {
        assertThat(properties())
                .filteredOn(property -> property.containsKey("defaultValue"))
                .extracting(property -> property.get("name") + "=" + property.get("defaultValue"))
                .contains(
                        "ratelimit.enabled=true",
                        "ratelimit.store=redis",
                        "ratelimit.on-store-failure=local",
                        "ratelimit.expected-instances=auto",
                        "ratelimit.order=before-security",
                        "ratelimit.redis.timeout=100ms",
                        "ratelimit.redis.remember-rejections=true",
                        "ratelimit.redis.functions=true",
                        "ratelimit.redis.clock=server",
                        "ratelimit.web.headers=ietf",
                        "ratelimit.web.ipv6-prefix=64",
                        "ratelimit.web.missing-key-status=400",
                        "ratelimit.web.outbound-status=503",
                        "ratelimit.in-memory.max-keys=100000",
                        "ratelimit.health.store-failure=up",
                        "ratelimit.plans.cache=1m",
                        "ratelimit.plans.timeout=500ms",
                        "ratelimit.dashboard.enabled=true",
                        "ratelimit.dashboard.path=/ratelimits",
                        "ratelimit.metrics.plan-tag=false",
                        "ratelimit.observations.enabled=false",
                        "management.health.ratelimit.enabled=true");
    }

    @Test
    void everyPropertyHasAHintForItsValues() throws IOException {
        assertThat(described("hints"))
                .allMatch(hint -> hint.containsKey("values") || hint.containsKey("providers"))
                .extracting(hint -> hint.get("name"))
                .containsExactlyInAnyOrderElementsOf(hintable());
    }

    /** A hint is a promise: an editor's suggestion must start. */
    @Test
    void everyHintedValueIsAccepted() throws IOException {
        for (Map<String, Object> hint : described("hints")) {
            String property = ((String) hint.get("name"))
                    .replace("ratelimit.limits.values.", "ratelimit.limits.name.")
                    .replace("ratelimit.http.", "ratelimit.http[0].");
            for (String value : values(hint)) {
                String resolved = value.replace("${spring.application.name}", "orders");
                Binder binder = new Binder(new MapConfigurationPropertySource(Map.of(property, resolved)));
                assertThatCode(() -> binder.bindOrCreate("ratelimit", RateLimitProperties.class))
                        .as("%s=%s", property, value)
                        .doesNotThrowAnyException();
            }
        }
    }

    @Test
    void hintsOfAnEnumNameAllOfItsConstants() throws IOException {
        Map<String, Class<?>> enums = Map.ofEntries(
                Map.entry("ratelimit.store", RateLimitProperties.StoreType.class),
                Map.entry("ratelimit.on-store-failure", OnStoreFailure.class),
                Map.entry("ratelimit.health.store-failure", RateLimitProperties.HealthStatus.class),
                Map.entry("ratelimit.web.headers", HeaderFormat.class),
                Map.entry("ratelimit.http.methods", RateLimitProperties.HttpMethod.class),
                Map.entry("ratelimit.http.order", RuleOrder.class),
                Map.entry("ratelimit.limits.values.algorithm", Algorithm.class),
                Map.entry("ratelimit.limits.values.refill", Refill.class),
                Map.entry("ratelimit.limits.values.on-store-failure", OnStoreFailure.class),
                Map.entry("ratelimit.limits.values.scope", Scope.class),
                Map.entry("ratelimit.defaults.scope", Scope.class),
                Map.entry("ratelimit.defaults.algorithm", Algorithm.class),
                Map.entry("ratelimit.defaults.refill", Refill.class),
                Map.entry("ratelimit.defaults.on-store-failure", OnStoreFailure.class));
        for (Map<String, Object> hint : described("hints")) {
            Class<?> type = enums.get(hint.get("name"));
            if (type != null) {
                assertThat(values(hint))
                        .as("%s", hint.get("name"))
                        .extracting(value -> value.toUpperCase(Locale.ROOT).replace('-', '_'))
                        .containsExactly(Arrays.stream(type.getEnumConstants())
                                .map(Object::toString)
                                .toArray(String[]::new));
            }
        }
    }

    /** All properties; below the map of limits with the suffixes that the metadata's format has for a map. */
    private static List<String> hintable() throws IOException {
        return properties().stream()
                .map(property -> (String) property.get("name"))
                .flatMap(name -> switch (name) {
                    case "ratelimit.limits" ->
                        Stream.concat(Stream.of(name + ".keys"), below(name + ".values.", LimitProperties.class));
                    case "ratelimit.http" -> below(name + ".", RateLimitProperties.Http.class);
                    default -> Stream.of(name);
                })
                .toList();
    }

    private static Stream<String> below(String prefix, Class<? extends Record> type) {
        return Arrays.stream(type.getRecordComponents())
                .map(component -> LimitNames.kebabCase(component.getName()))
                .flatMap(name -> name.equals("plans")
                        ? below(prefix + "plans.values.", LimitProperties.Plan.class)
                        : Stream.of(prefix + name));
    }

    @SuppressWarnings("unchecked")
    private static List<String> values(Map<String, Object> hint) {
        return ((List<Object>) hint.getOrDefault("values", List.of()))
                .stream()
                        .map(value -> ((Map<String, Object>) value).get("value").toString())
                        .toList();
    }

    /** The names of all properties with the prefix of the starter. */
    static List<String> names() throws IOException {
        return properties().stream()
                .map(property -> (String) property.get("name"))
                .filter(name -> name.startsWith("ratelimit."))
                .toList();
    }

    private static List<Map<String, Object>> properties() throws IOException {
        return described("properties").stream()
                .filter(property -> !property.containsKey("deprecation"))
                .toList();
    }

    @SuppressWarnings("unchecked")
    private static List<Map<String, Object>> described(String kind) throws IOException {
        Path classes = Path.of(URI.create(RateLimitProperties.class
                .getProtectionDomain()
                .getCodeSource()
                .getLocation()
                .toString()));
        String metadata = Files.readString(classes.resolve("META-INF/spring-configuration-metadata.json"));
        List<Object> described = (List<Object>)
                JsonParserFactory.getJsonParser().parseMap(metadata).get(kind);
        return described.stream().map(each -> (Map<String, Object>) each).toList();
    }
}
