package io.ratelimit.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.springframework.boot.json.JsonParserFactory;

/** What an editor shows while somebody writes application.yml. */
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
                        "ratelimit.on-store-failure",
                        "ratelimit.local-share",
                        "ratelimit.dry-run",
                        "ratelimit.order",
                        "ratelimit.redis.connection-factory",
                        "ratelimit.redis.key-prefix",
                        "ratelimit.redis.timeout",
                        "ratelimit.redis.remember-rejections",
                        "ratelimit.in-memory.max-keys",
                        "ratelimit.health.store-failure",
                        "management.health.ratelimit.enabled",
                        "management.endpoint.ratelimits.access",
                        "management.endpoint.ratelimits.cache.time-to-live",
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
                        "ratelimit.local-share=1",
                        "ratelimit.order=before-security",
                        "ratelimit.redis.timeout=100ms",
                        "ratelimit.redis.remember-rejections=true",
                        "ratelimit.web.filter-order=-101",
                        "ratelimit.web.headers=ietf",
                        "ratelimit.web.ipv6-prefix=64",
                        "ratelimit.web.missing-key-status=400",
                        "ratelimit.in-memory.max-keys=100000",
                        "ratelimit.health.store-failure=up",
                        "management.health.ratelimit.enabled=true");
    }

    /** The names of all properties of ours. */
    static List<String> names() throws IOException {
        return properties().stream()
                .map(property -> (String) property.get("name"))
                .filter(name -> name.startsWith("ratelimit."))
                .toList();
    }

    @SuppressWarnings("unchecked")
    private static List<Map<String, Object>> properties() throws IOException {
        Path classes = Path.of(URI.create(RateLimitProperties.class
                .getProtectionDomain()
                .getCodeSource()
                .getLocation()
                .toString()));
        String metadata = Files.readString(classes.resolve("META-INF/spring-configuration-metadata.json"));
        List<Object> properties = (List<Object>)
                JsonParserFactory.getJsonParser().parseMap(metadata).get("properties");
        return properties.stream()
                .map(property -> (Map<String, Object>) property)
                .toList();
    }
}
