package io.ratelimit.architecture;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The integration of a protocol has at most 150 lines of code. What needs more is a recipe in the documentation. */
class IntegrationSizeTests {

    private static final Pattern NO_CODE = Pattern.compile("\\s*(//.*|/?\\*.*|import .*|package .*)?");

    @ParameterizedTest
    @CsvSource({
        "ai, 150",
        "graphql, 150",
        "grpc, 150",
        "jaxrs, 150",
        // And RSocket, because Spring asks one advice for both.
        "stomp, 300",
        "web/function, 150"
    })
    void integrationIsSmall(String directory, long most) throws IOException {
        long lines = 0;
        try (Stream<Path> files = Files.list(Path.of("src/main/java/io/ratelimit", directory))) {
            for (Path file : files.toList()) {
                lines += Files.readString(file)
                        .lines()
                        .filter(line -> !NO_CODE.matcher(line).matches())
                        .count();
            }
        }
        assertThat(lines).as(directory).isBetween(10L, most);
    }
}
