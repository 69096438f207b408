package com.acme.limits;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.documentation.MarkdownPage;
import io.ratelimit.documentation.MarkdownPage.Snippet;
import io.ratelimit.test.AutoConfigureRateLimits;
import io.ratelimit.test.MutableTimeSource;
import io.ratelimit.testing.redis.SharedRedis;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Properties;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.beans.factory.config.YamlPropertiesFactoryBean;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.SpringBootTest.WebEnvironment;
import org.springframework.boot.test.web.server.LocalServerPort;
import org.springframework.core.io.ByteArrayResource;
import org.springframework.core.io.ClassPathResource;
import org.springframework.core.io.Resource;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.test.annotation.DirtiesContext;
import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;
import org.springframework.test.web.servlet.client.RestTestClient;
import org.springframework.test.web.servlet.client.RestTestClient.ResponseSpec;

/** What the pages of own algorithms show is this package, and an application with both algorithms answers as they say. */
class OwnAlgorithmsPageTests {

    private static final List<MarkdownPage> PAGES = Stream.of("", "-night", "-test")
            .map(name -> MarkdownPage.of("docs/own-algorithms" + name + ".md"))
            .toList();

    /** A loop of curl, and the statuses that it prints. */
    private static final Pattern LOOP =
            Pattern.compile("http://localhost:8080(?<path>/\\w+); done +# (?<statuses>[\\d ]+)");

    @Test
    void everySnippetIsPartOfThisPackage() throws IOException {
        List<String> sources = Stream.concat(
                        files(Path.of("src/test/java/com/acme/limits")), files(Path.of("src/test/resources")))
                .map(OwnAlgorithmsPageTests::code)
                .toList();
        List<Snippet> shown = snippets()
                .filter(snippet -> List.of("java", "lua").contains(snippet.language()))
                .toList();

        assertThat(shown).hasSizeGreaterThan(5);
        // Omitted lines divide a snippet.
        assertThat(shown)
                .allSatisfy(snippet -> assertThat(snippet.text().split("(?m)^ *…\n"))
                        .allSatisfy(part ->
                                assertThat(sources).as("%s", snippet).anyMatch(source -> source.contains(code(part)))));
    }

    @Test
    void configurationIsThatOfTheApplication() {
        Properties configuration = properties(new ClassPathResource("acme.yml"));
        List<Snippet> shown =
                snippets().filter(snippet -> snippet.language().equals("yaml")).toList();

        assertThat(shown)
                .hasSize(2)
                .allSatisfy(snippet -> assertThat(configuration)
                        .containsAllEntriesOf(
                                properties(new ByteArrayResource(snippet.text().getBytes(StandardCharsets.UTF_8)))));
    }

    private static Properties properties(Resource yaml) {
        YamlPropertiesFactoryBean properties = new YamlPropertiesFactoryBean();
        properties.setResources(yaml);
        return properties.getObject();
    }

    @Test
    void examplesHaveLessThanEightyLines() throws IOException {
        for (String file : List.of(
                "java/com/acme/limits/JitterTolerant.java",
                "java/com/acme/limits/FasterByNight.java",
                "resources/com/acme/limits/JitterTolerant.lua",
                "resources/com/acme/limits/FasterByNight.lua")) {
            assertThat(Files.readAllLines(Path.of("src/test", file))).as(file).hasSizeLessThan(80);
        }
    }

    private static Stream<Snippet> snippets() {
        return PAGES.stream().flatMap(page -> page.snippets().stream());
    }

    private static Stream<String> files(Path directory) throws IOException {
        try (Stream<Path> files = Files.walk(directory)) {
            return files.filter(Files::isRegularFile).map(OwnAlgorithmsPageTests::read).toList().stream();
        }
    }

    private static String read(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    /** The code without its layout, and without what differs between a page and a package. */
    private static String code(String text) {
        return text.lines()
                .map(String::strip)
                .filter(line -> !line.isEmpty() && !line.startsWith("import ") && !line.startsWith("package "))
                .collect(Collectors.joining("\n"));
    }

    private static void assertDocumentedStatuses(RestTestClient client) {
        Matcher loop = LOOP.matcher(PAGES.stream().map(MarkdownPage::text).collect(Collectors.joining()));
        int loops = 0;
        while (loop.find()) {
            loops++;
            for (String status : loop.group("statuses").strip().split(" ", -1)) {
                get(client, loop.group("path")).expectStatus().isEqualTo(Integer.parseInt(status));
            }
        }
        assertThat(loops).isEqualTo(2);
    }

    private static ResponseSpec get(RestTestClient client, String path) {
        return client.get().uri(path).exchange();
    }

    private static RestTestClient client(int port) {
        return RestTestClient.bindToServer().baseUrl("http://127.0.0.1:" + port).build();
    }

    @Nested
    @SpringBootTest(
            classes = AcmeApplication.class,
            webEnvironment = WebEnvironment.RANDOM_PORT,
            properties = "spring.config.name=acme")
    @AutoConfigureRateLimits
    class InMemory {

        @LocalServerPort
        int port;

        @Autowired
        MutableTimeSource time;

        @Test
        void answersAsDocumented() {
            assertDocumentedStatuses(client(port));
        }

        /** The clock starts at midnight. */
        @Test
        void permitsComeBackFasterByNight() {
            RestTestClient client = client(port);
            IntStream.range(0, 2)
                    .forEach(i -> get(client, "/exports").expectStatus().isOk());
            get(client, "/exports").expectHeader().valueEquals("Retry-After", "1200");

            time.advance(Duration.ofHours(12));

            IntStream.range(0, 2)
                    .forEach(i -> get(client, "/exports").expectStatus().isOk());
            get(client, "/exports").expectHeader().valueEquals("Retry-After", "3600");
        }

        /** A permit comes back every 20 s, and a call may come 20 ms before it. */
        @Test
        void callMayComeALittleEarly() {
            RestTestClient client = client(port);
            IntStream.range(0, 3)
                    .forEach(i -> get(client, "/readings").expectStatus().isOk());

            time.advance(Duration.ofMillis(19_979));
            get(client, "/readings").expectStatus().isEqualTo(429);
            time.advance(Duration.ofMillis(1));
            get(client, "/readings").expectStatus().isOk();
        }
    }

    @Nested
    @DirtiesContext
    @SpringBootTest(
            classes = AcmeApplication.class,
            webEnvironment = WebEnvironment.RANDOM_PORT,
            properties = {"spring.config.name=acme", "ratelimit.on-store-failure=throw", "ratelimit.redis.timeout=10s"})
    class InRedis {

        private static final String PREFIX = "acme-" + ProcessHandle.current().pid() + "-" + System.nanoTime();

        @LocalServerPort
        int port;

        @Autowired
        StringRedisTemplate redis;

        @DynamicPropertySource
        static void redis(DynamicPropertyRegistry properties) {
            properties.add("spring.data.redis.host", () -> SharedRedis.get().host());
            properties.add("spring.data.redis.port", () -> SharedRedis.get().port());
            properties.add("ratelimit.redis.key-prefix", () -> PREFIX);
        }

        @Test
        void answersAsDocumented() {
            assertDocumentedStatuses(client(port));

            assertThat(redis.keys(PREFIX + ":*:readings"))
                    .hasSize(1)
                    .allSatisfy(key -> assertThat(redis.getExpire(key)).isBetween(1L, 60L));
        }
    }
}
