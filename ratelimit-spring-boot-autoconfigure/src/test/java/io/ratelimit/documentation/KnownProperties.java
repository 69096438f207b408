package io.ratelimit.documentation;

import io.ratelimit.autoconfigure.properties.LimitProperties;
import io.ratelimit.autoconfigure.properties.RateLimitProperties;
import java.io.IOException;
import java.io.InputStream;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Stream;
import org.springframework.boot.json.JsonParserFactory;

/** The properties that the configuration metadata on the class path describe, the starter's and Spring Boot's. */
final class KnownProperties {

    /** The beginnings of what is under a name or a number of the user's choice. */
    private static final Map<String, Class<? extends Record>> NESTED = Map.of(
            "ratelimit.limits.<name>.", LimitProperties.class,
            "ratelimit.limits.<name>.plans.<plan>.", LimitProperties.Plan.class,
            "ratelimit.http[n].", RateLimitProperties.Http.class);

    /** Name and default; {@code ""}: none. */
    private final Map<String, String> properties;

    private final List<String> maps;

    private KnownProperties(Map<String, String> properties, List<String> maps) {
        this.properties = properties;
        this.maps = maps;
    }

    @SuppressWarnings("unchecked")
    static KnownProperties load() throws IOException {
        Map<String, String> properties = new LinkedHashMap<>();
        List<String> maps = new ArrayList<>();
        for (URL url : Collections.list(
                KnownProperties.class.getClassLoader().getResources("META-INF/spring-configuration-metadata.json"))) {
            try (InputStream metadata = url.openStream()) {
                String json = new String(metadata.readAllBytes(), StandardCharsets.UTF_8);
                List<Object> described = (List<Object>)
                        JsonParserFactory.getJsonParser().parseMap(json).get("properties");
                for (Object each : described) {
                    Map<String, Object> property = (Map<String, Object>) each;
                    if (property.containsKey("deprecation")) {
                        continue;
                    }
                    Object name = property.get("name");
                    properties.put((String) name, String.valueOf(property.getOrDefault("defaultValue", "")));
                    if (String.valueOf(property.get("type")).startsWith("java.util.Map")) {
                        maps.add((String) name);
                    }
                }
            }
        }
        NESTED.forEach((prefix, type) -> components(type).forEach(name -> properties.put(prefix + name, "")));
        properties.remove("ratelimit.limits");
        properties.remove("ratelimit.limits.<name>.plans");
        properties.remove("ratelimit.http");
        return new KnownProperties(properties, maps);
    }

    /** A server has the properties of {@code ratelimit.redis}. */
    private String withoutServer(String name) {
        if (name.matches("ratelimit\\.redis\\.<name>\\.?")) {
            return "ratelimit.redis";
        }
        String ofFirst = name.replaceFirst("^ratelimit\\.redis\\.[^.]+\\.", "ratelimit.redis.");
        return !properties.containsKey(name) && properties.containsKey(ofFirst) ? ofFirst : name;
    }

    private static Stream<String> components(Class<? extends Record> type) {
        return Arrays.stream(type.getRecordComponents())
                .map(component ->
                        component.getName().replaceAll("([A-Z])", "-$1").toLowerCase(Locale.ROOT));
    }

    /** Those of the starter, with their defaults. */
    Map<String, String> ours() {
        Map<String, String> ours = new LinkedHashMap<>();
        properties.forEach((name, value) -> {
            if (name.matches("ratelimit\\..*|management\\.(endpoint\\.ratelimits|health\\.ratelimit)\\..*")) {
                ours.put(name, value);
            }
        });
        return ours;
    }

    /**
     * Whether it is a property, or what properties begin with.
     *
     * @param name with names and numbers of the user's choice, or with {@code <name>} and {@code [n]}
     */
    boolean contains(String name) {
        String general = withoutServer(name)
                .replaceFirst("^ratelimit\\.limits\\.[^.]+\\.", "ratelimit.limits.<name>.")
                .replaceFirst("^(ratelimit\\.limits\\.<name>\\.plans)\\.[^.]+\\.", "$1.<plan>.")
                .replaceFirst("^ratelimit\\.http\\[\\d+\\]", "ratelimit.http[n]")
                .replaceFirst("\\[\\d+\\]$", "")
                .replaceFirst("\\.$", "");
        return properties.containsKey(general)
                || properties.keySet().stream()
                        .anyMatch(property -> property.startsWith(general + ".") || property.startsWith(general + "["))
                || maps.stream().anyMatch(map -> general.startsWith(map + "."));
    }
}
