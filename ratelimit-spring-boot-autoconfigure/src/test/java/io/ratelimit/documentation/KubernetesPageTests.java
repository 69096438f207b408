package io.ratelimit.documentation;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.autoconfigure.properties.RateLimitProperties;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.env.YamlPropertySourceLoader;
import org.springframework.core.env.PropertySource;
import org.springframework.core.env.StandardEnvironment;
import org.springframework.core.env.SystemEnvironmentPropertySource;
import org.springframework.core.io.ByteArrayResource;

/** The parts of the manifest in docs/kubernetes.md fit together, and its variables are properties. */
class KubernetesPageTests {

    private static final String CONTAINER = "spec.template.spec.containers[0].";

    private final Map<String, PropertySource<?>> manifest = manifest();

    private final PropertySource<?> deployment = part("Deployment");

    @Test
    void namesOfTheManifestFit() {
        PropertySource<?> service = part("Service");
        assertThat(manifest).containsOnlyKeys("ConfigMap", "Secret", "Deployment", "Service");
        assertThat(deployment.getProperty("spec.template.metadata.labels.app"))
                .isNotNull()
                .isEqualTo(deployment.getProperty("spec.selector.matchLabels.app"))
                .isEqualTo(service.getProperty("spec.selector.app"));
        assertThat(deployment.getProperty(CONTAINER + "ports[0].name"))
                .isNotNull()
                .isEqualTo(service.getProperty("spec.ports[0].targetPort"))
                .isEqualTo(deployment.getProperty(CONTAINER + "readinessProbe.httpGet.port"))
                .isEqualTo(deployment.getProperty(CONTAINER + "livenessProbe.httpGet.port"));
    }

    @Test
    void everyVariableIsTheNameOfAProperty() throws IOException {
        List<String> known = KnownProperties.load().ours().keySet().stream()
                .map(name -> name.replace("-", "").replace('.', '_').toUpperCase(Locale.ROOT))
                .toList();
        assertThat(variables()).hasSize(4);
        assertThat(known).containsAll(variables().keySet());
    }

    @Test
    void variablesBindToWhatTheManifestMeans() {
        StandardEnvironment environment = new StandardEnvironment();
        String name = StandardEnvironment.SYSTEM_ENVIRONMENT_PROPERTY_SOURCE_NAME;
        environment.getPropertySources().replace(name, new SystemEnvironmentPropertySource(name, variables()));

        RateLimitProperties properties = Binder.get(environment)
                .bind("ratelimit", RateLimitProperties.class)
                .get();

        assertThat(properties.redis().host()).isEqualTo("redis.limits.svc.cluster.local");
        assertThat(properties.redis().password()).isEqualTo("change-me");
        assertThat(properties.redis().keyPrefix()).isEqualTo("quotes");
        assertThat(properties.expectedInstances()).isEqualTo("10");
    }

    /** With the values of the parts that they refer to. */
    private Map<String, Object> variables() {
        Map<String, Object> variables = new LinkedHashMap<>();
        IntStream.iterate(0, n -> deployment.containsProperty(CONTAINER + "env[" + n + "].name"), n -> n + 1)
                .mapToObj(n -> CONTAINER + "env[" + n + "].")
                .forEach(variable ->
                        variables.put(String.valueOf(deployment.getProperty(variable + "name")), value(variable)));
        return variables;
    }

    private Object value(String variable) {
        return Stream.of(
                        deployment.getProperty(variable + "value"),
                        referred(variable + "valueFrom.configMapKeyRef.", part("ConfigMap"), "data."),
                        referred(variable + "valueFrom.secretKeyRef.", part("Secret"), "stringData."))
                .filter(value -> value != null)
                .findFirst()
                .orElseThrow(() -> new AssertionError(deployment.getProperty(variable + "name") + " has no value"));
    }

    private Object referred(String reference, PropertySource<?> part, String data) {
        boolean itsName = part.getProperty("metadata.name").equals(deployment.getProperty(reference + "name"));
        return itsName ? part.getProperty(data + deployment.getProperty(reference + "key")) : null;
    }

    private PropertySource<?> part(String kind) {
        assertThat(manifest).containsKey(kind);
        return manifest.get(kind);
    }

    private static Map<String, PropertySource<?>> manifest() {
        String text = MarkdownPage.of("docs/kubernetes.md").snippets().stream()
                .filter(snippet -> snippet.is("yml"))
                .findFirst()
                .orElseThrow()
                .text();
        try {
            Map<String, PropertySource<?>> parts = new LinkedHashMap<>();
            new YamlPropertySourceLoader()
                    .load("manifest", new ByteArrayResource(text.getBytes(StandardCharsets.UTF_8)))
                    .forEach(part -> parts.put(String.valueOf(part.getProperty("kind")), part));
            return parts;
        } catch (IOException ex) {
            throw new IllegalStateException(ex);
        }
    }
}
