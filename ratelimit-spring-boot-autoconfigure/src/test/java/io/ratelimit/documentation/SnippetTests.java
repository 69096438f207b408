package io.ratelimit.documentation;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.documentation.MarkdownPage.Snippet;
import io.ratelimit.testing.LongRunning;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Test;
import org.springframework.boot.json.JsonParserFactory;
import org.springframework.core.NestedExceptionUtils;
import org.springframework.core.env.PropertySource;

/**
 * Every snippet of the documentation is tried: Java is compiled, and what a section shows is started as an application, with
 * each of its configurations. HTTP exchanges are tried by {@code HttpContract}, what is typed into a shell by the sample's
 * tests.
 */
class SnippetTests {

    @Test
    void everySnippetSaysWhatItIs() {
        assertThat(snippets())
                .allSatisfy(snippet -> assertThat(snippet.is(
                                "java",
                                "yaml",
                                "yml", // of Kubernetes: no configuration of an application
                                "properties",
                                "json",
                                "xml",
                                "kotlin",
                                "lua",
                                "http",
                                "shell",
                                "text",
                                "mermaid"))
                        .as("%s: %s", snippet, snippet.language())
                        .isTrue());
    }

    @LongRunning
    @Test
    void sectionsAreApplicationsThatStart() throws Exception {
        Map<String, List<Snippet>> sections = new LinkedHashMap<>();
        snippets().stream()
                .filter(snippet -> isJava(snippet) || snippet.is("yaml", "properties"))
                .forEach(snippet -> sections.computeIfAbsent(snippet.section(), section -> new ArrayList<>())
                        .add(snippet));
        assertThat(sections).isNotEmpty();
        try (JavaSnippets java = JavaSnippets.compile(
                snippets().stream().filter(SnippetTests::isJava).toList())) {
            List<String> failures = new ArrayList<>();
            for (List<Snippet> section : sections.values()) {
                start(java, section, failures);
            }
            assertThat(failures).isEmpty();
        }
    }

    private static void start(JavaSnippets java, List<Snippet> section, List<String> failures)
            throws ClassNotFoundException {
        List<Class<?>> beans = new ArrayList<>();
        List<Snippet> configurations = new ArrayList<>();
        for (Snippet snippet : section) {
            if (isJava(snippet)) {
                beans.addAll(java.beans(snippet));
            } else {
                configurations.add(snippet);
            }
        }
        if (configurations.isEmpty()) {
            start(java, section.get(0), beans, List.of(), failures);
        }
        for (Snippet configuration : configurations) {
            start(java, configuration, beans, DocumentedApplication.configuration(configuration), failures);
        }
    }

    private static void start(
            JavaSnippets java,
            Snippet snippet,
            List<Class<?>> beans,
            List<PropertySource<?>> configuration,
            List<String> failures) {
        DocumentedApplication.of(beans, configuration)
                .withClassLoader(java.classLoader())
                .run(context -> {
                    if (context.getStartupFailure() != null) {
                        failures.add(snippet + ": "
                                + NestedExceptionUtils.getMostSpecificCause(context.getStartupFailure()));
                    }
                });
    }

    @Test
    void configurationNamesOnlyPropertiesThatExist() throws IOException {
        KnownProperties known = KnownProperties.load();
        for (Snippet snippet : snippets()) {
            if (snippet.is("yaml", "properties")) {
                assertThat(DocumentedApplication.names(DocumentedApplication.configuration(snippet)))
                        .as("%s", snippet)
                        .allMatch(known::contains);
            }
        }
    }

    @Test
    void jsonAndXmlAreWellFormed() throws Exception {
        for (Snippet snippet : snippets()) {
            if (snippet.is("json")) {
                assertThat(JsonParserFactory.getJsonParser().parseMap(snippet.text()))
                        .as("%s", snippet)
                        .isNotEmpty();
            } else if (snippet.is("xml")) {
                var unused = DocumentBuilderFactory.newInstance()
                        .newDocumentBuilder()
                        .parse(new ByteArrayInputStream(
                                ("<xml>" + snippet.text() + "</xml>").getBytes(StandardCharsets.UTF_8)));
            }
        }
    }

    /** What a build file has to name is what the starter's own says. */
    @Test
    void buildFilesNameTheStarter() throws Exception {
        var starter = DocumentBuilderFactory.newInstance()
                .newDocumentBuilder()
                .parse("../ratelimit-spring-boot-starter/pom.xml")
                .getDocumentElement();
        String group = starter.getElementsByTagName("groupId").item(0).getTextContent();
        String version = starter.getElementsByTagName("version").item(0).getTextContent();
        List<Snippet> builds = snippets().stream()
                .filter(snippet -> snippet.is("xml", "kotlin") && !KotlinPageTests.isSource(snippet))
                .toList();
        assertThat(builds)
                .isNotEmpty()
                .allSatisfy(snippet -> assertThat(snippet.text())
                        .as("%s", snippet)
                        .contains(group, version)
                        .containsAnyOf(
                                "ratelimit-spring-boot-starter",
                                "ratelimit-spring-boot-test",
                                "ratelimit-spring-boot-dashboard"));
    }

    /** The acceptance suite runs an application that is built so. */
    @Test
    void jedisReplacesLettuceAsInTheApplicationThatIsTested() throws IOException {
        String application = lines(Files.readString(Path.of("../acceptance/jedis/pom.xml")));
        Snippet build = snippets().stream()
                .filter(snippet -> snippet.text().contains("jedis") && snippet.is("xml"))
                .findFirst()
                .orElseThrow();
        String text = lines(build.text());
        assertThat(application)
                .contains(text.substring(text.indexOf("<exclusions>"), text.indexOf("</exclusions>")))
                .contains(text.substring(text.lastIndexOf("<dependency>")));
    }

    private static String lines(String xml) {
        return xml.lines().map(String::strip).collect(Collectors.joining());
    }

    /** Tests of users are tried by the test module, which has what they need on its class path. */
    private static boolean isJava(Snippet snippet) {
        return snippet.is("java")
                && !snippet.text().contains("import io.ratelimit.test.")
                && !snippet.text().contains("import static io.ratelimit.test.");
    }

    private static List<Snippet> snippets() {
        return MarkdownPage.guides().stream()
                .flatMap(page -> page.snippets().stream())
                .toList();
    }
}
