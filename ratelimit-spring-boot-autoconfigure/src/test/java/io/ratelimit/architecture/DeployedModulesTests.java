package io.ratelimit.architecture;

import static java.util.stream.Collectors.groupingBy;
import static java.util.stream.Collectors.mapping;
import static java.util.stream.Collectors.toSet;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import javax.xml.parsers.DocumentBuilderFactory;
import javax.xml.parsers.ParserConfigurationException;
import javax.xml.xpath.XPathConstants;
import javax.xml.xpath.XPathExpressionException;
import javax.xml.xpath.XPathFactory;
import org.junit.jupiter.api.Test;
import org.w3c.dom.NodeList;
import org.xml.sax.SAXException;

/** What applications can depend on: the modules that are deployed. */
class DeployedModulesTests {

    private static final Path ROOT = Path.of("..");

    private static final List<String> DEPLOYED = texts("", "/project/modules/module").stream()
            .filter(module ->
                    !texts(module, "/project/properties/maven.deploy.skip").contains("true"))
            .toList();

    private static final List<String> JARS = DEPLOYED.stream()
            .filter(module -> !texts(module, "/project/packaging").contains("pom"))
            .toList();

    @Test
    void bomHasTheVersionsOfAllJars() {
        assertThat(texts("ratelimit-bom", "//dependencyManagement//artifactId"))
                .containsExactlyInAnyOrderElementsOf(JARS);
        assertThat(texts("ratelimit-bom", "//dependencyManagement//version")).containsOnly("${project.version}");
        assertThat(texts("ratelimit-bom", "/project/version")).isEqualTo(texts("", "/project/version"));
        assertThat(DEPLOYED).contains("ratelimit-bom");
    }

    @Test
    void eachJarHasAModuleNameOfItsOwn() {
        assertThat(texts("", "//plugin[artifactId='maven-jar-plugin']//Automatic-Module-Name"))
                .containsExactly("${module.name}");
        assertThat(JARS)
                .allSatisfy(jar -> assertThat(texts(jar, "/project/properties/module.name"))
                        .containsExactly(moduleName(jar)));
    }

    @Test
    void packageIsInOneJarOnly() {
        Map<String, Set<String>> jarsOfPackages = JARS.stream()
                .flatMap(jar -> packages(jar).map(name -> Map.entry(name, jar)))
                .collect(groupingBy(Map.Entry::getKey, mapping(Map.Entry::getValue, toSet())));
        assertThat(jarsOfPackages)
                .hasSizeGreaterThan(30)
                .allSatisfy((name, jars) -> assertThat(jars).as(name).hasSize(1));
    }

    /** Names them as the artifacts: {@code ratelimit-spring-boot-test} is {@code io.ratelimit.spring.boot.test}. */
    private static String moduleName(String artifact) {
        return "io." + artifact.replace('-', '.');
    }

    /** Reads the sources, because class files of a moved class may be left, and those of later modules do not exist yet. */
    private static Stream<String> packages(String module) {
        Path sources = ROOT.resolve(module).resolve(Path.of("src", "main", "java"));
        if (!Files.exists(sources)) {
            return Stream.of();
        }
        try (Stream<Path> files = Files.walk(sources)) {
            return files
                    .filter(file -> file.toString().endsWith(".java"))
                    .map(file -> sources.relativize(file.getParent()).toString())
                    .collect(toSet())
                    .stream();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static List<String> texts(String module, String path) {
        try {
            NodeList found = (NodeList) XPathFactory.newInstance()
                    .newXPath()
                    .evaluate(
                            path,
                            DocumentBuilderFactory.newInstance()
                                    .newDocumentBuilder()
                                    .parse(ROOT.resolve(module)
                                            .resolve("pom.xml")
                                            .toFile()),
                            XPathConstants.NODESET);
            return IntStream.range(0, found.getLength())
                    .mapToObj(i -> found.item(i).getTextContent().strip())
                    .toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (XPathExpressionException | SAXException | ParserConfigurationException e) {
            throw new IllegalStateException(e);
        }
    }
}
