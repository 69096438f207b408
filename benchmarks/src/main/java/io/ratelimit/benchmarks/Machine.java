package io.ratelimit.benchmarks;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.Optional;
import java.util.stream.Stream;
import org.springframework.boot.SpringBootVersion;

/** Where and with what was measured. */
final class Machine {

    private Machine() {}

    static String describe(String redis) throws IOException {
        return "%s. %d cores, shared by client and Redis: %s. %s %s, %s. Redis %s. Spring Boot %s. Peers: %s."
                .formatted(
                        LocalDate.now(ZoneOffset.UTC),
                        Runtime.getRuntime().availableProcessors(),
                        cpu(),
                        System.getProperty("java.vm.name"),
                        System.getProperty("java.version"),
                        System.getProperty("os.name"),
                        redis,
                        SpringBootVersion.getVersion(),
                        peers());
    }

    private static String cpu() throws IOException {
        Path info = Path.of("/proc/cpuinfo");
        if (!Files.exists(info)) {
            return System.getProperty("os.arch");
        }
        try (Stream<String> lines = Files.lines(info)) {
            Optional<String> model =
                    lines.filter(line -> line.startsWith("model name")).findFirst();
            return model.map(line -> line.substring(line.indexOf(':') + 1).strip())
                    .orElse(System.getProperty("os.arch"));
        }
    }

    /** By the jars beside the benchmarks' own. */
    private static String peers() throws IOException {
        try (Stream<Path> jars = Files.list(Path.of("benchmarks", "target", "lib"))) {
            return String.join(
                    ", ",
                    jars.map(jar -> jar.getFileName().toString().replace(".jar", ""))
                            .filter(name -> name.matches(
                                    "(bucket4j_jdk17-(core|lettuce)|bucket4j-spring-boot-starter|redisson|resilience4j-spring-boot4"
                                            + "|spring-cloud-gateway-server-webflux|lettuce-core)-[0-9].*"))
                            .sorted()
                            .toList());
        }
    }
}
