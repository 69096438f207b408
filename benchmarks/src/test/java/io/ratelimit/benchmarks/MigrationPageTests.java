package io.ratelimit.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import com.giffing.bucket4j.spring.boot.starter.context.RateLimiting;
import com.giffing.bucket4j.spring.boot.starter.context.RefillSpeed;
import com.giffing.bucket4j.spring.boot.starter.context.properties.BandWidth;
import com.giffing.bucket4j.spring.boot.starter.context.properties.Bucket4JBootProperties;
import io.github.resilience4j.ratelimiter.annotation.RateLimiter;
import java.io.IOException;
import java.io.InputStream;
import java.lang.reflect.Method;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.context.properties.bind.BindHandler;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.bind.DataObjectPropertyName;
import org.springframework.boot.context.properties.bind.handler.NoUnboundElementsBindHandler;
import org.springframework.boot.context.properties.source.ConfigurationPropertySources;
import org.springframework.boot.env.YamlPropertySourceLoader;
import org.springframework.cloud.gateway.filter.ratelimit.RedisRateLimiter;
import org.springframework.core.env.PropertySource;
import org.springframework.core.io.ByteArrayResource;
import org.springframework.util.StringUtils;

/** What the pages on migration show of other libraries exists there: configurations bind without a remainder, names are theirs. */
class MigrationPageTests {

    private static final String PAGES = read();

    @Test
    void bucket4jBinds() throws IOException {
        Bucket4JBootProperties bucket4j = bind("bucket4j", "bucket4j", new Bucket4JBootProperties());

        var limit = bucket4j.getFilters().get(0).getRateLimits().get(0);
        assertThat(limit.getCacheKey()).isEqualTo("getHeader('X-Api-Key')");
        // The handler does not see elements of lists that are left unbound.
        assertThat(limit.getBandwidths())
                .extracting(BandWidth::getCapacity, BandWidth::getRefillCapacity, BandWidth::getUnit)
                .containsExactly(tuple(50L, 10L, ChronoUnit.SECONDS), tuple(1000L, null, ChronoUnit.DAYS));
        assertThat(limit.getBandwidths().get(1).getRefillSpeed()).isEqualTo(RefillSpeed.INTERVAL);
    }

    @Test
    void resilience4jBinds() throws Exception {
        // By name: benchmarks have the properties at run time only, with Resilience4j's starter.
        Object properties = Class.forName(
                        "io.github.resilience4j.common.ratelimiter.configuration.CommonRateLimiterConfigurationProperties")
                .getDeclaredConstructor()
                .newInstance();

        assertThat(bind("resilience4j", "resilience4j.ratelimiter", properties))
                .extracting("instances.partner.limitForPeriod", "instances.partner.timeoutDuration")
                .containsExactly(50, Duration.ofMillis(500));
    }

    @Test
    void gatewayBinds() throws IOException {
        RedisRateLimiter.Config gateway = bind("gateway", "redis-rate-limiter", new RedisRateLimiter.Config());

        assertThat(gateway.getReplenishRate()).isEqualTo(10);
        assertThat(gateway.getBurstCapacity()).isEqualTo(20);
    }

    @ParameterizedTest
    @CsvSource({"`@RateLimiting`", "`@RateLimiter`"})
    void attributesExist(String annotation) {
        Class<?> type = annotation.contains("RateLimiting") ? RateLimiting.class : RateLimiter.class;
        List<String> attributes = Arrays.stream(type.getDeclaredMethods())
                .map(method -> method.getName())
                .toList();
        String table = PAGES.substring(PAGES.indexOf("| " + annotation));
        List<String> named = table.substring(0, table.indexOf("\n\n"))
                .lines()
                .skip(2)
                .map(row -> row.split("\\|", 3)[1])
                .flatMap(cell -> Stream.of(cell.split(",", -1)))
                .map(cell -> cell.replaceAll("[` ]|=.*", ""))
                .filter(name -> !name.contains("."))
                .toList();

        assertThat(named).isNotEmpty();
        assertThat(attributes).containsAll(named);
    }

    /** Each property of the other library has a row, also if there is nothing like it here. */
    @ParameterizedTest
    @CsvSource({
        "Bucket4j, bucket4j.",
        "Resilience4j, resilience4j.ratelimiter.",
        "Spring Cloud Gateway, spring.cloud.gateway.server.webflux.filter.request-rate-limiter.",
        "Spring Cloud Gateway, spring.cloud.gateway.server.webflux.redis-rate-limiter."
    })
    void propertiesHaveRows(String library, String prefix) throws IOException {
        List<String> properties = metadata(prefix);

        assertThat(properties).isNotEmpty();
        assertThat(wordsOfFirstCells(library)).containsAll(properties);
    }

    @ParameterizedTest
    @CsvSource({
        "Bucket4j, com.giffing.bucket4j.spring.boot.starter.context.properties.Bucket4JConfiguration",
        "Bucket4j, com.giffing.bucket4j.spring.boot.starter.context.properties.RateLimit",
        "Bucket4j, com.giffing.bucket4j.spring.boot.starter.context.properties.BandWidth",
        "Bucket4j, com.giffing.bucket4j.spring.boot.starter.context.properties.MethodProperties",
        "Resilience4j, io.github.resilience4j.common.ratelimiter.configuration.CommonRateLimiterConfigurationProperties$InstanceProperties",
        "Spring Cloud Gateway, org.springframework.cloud.gateway.filter.ratelimit.RedisRateLimiter$Config",
        "Spring Cloud Gateway, org.springframework.cloud.gateway.filter.factory.RequestRateLimiterGatewayFilterFactory$Config"
    })
    void nestedPropertiesHaveRows(String library, String type) throws ClassNotFoundException {
        // The route of a filter is no property: the gateway sets it.
        List<String> properties = Arrays.stream(Class.forName(type).getMethods())
                .map(Method::getName)
                .filter(name -> name.startsWith("set") && !name.equals("setRouteId"))
                .map(name -> DataObjectPropertyName.toDashedForm(StringUtils.uncapitalize(name.substring(3))))
                .distinct()
                .toList();

        assertThat(properties).isNotEmpty();
        assertThat(wordsOfFirstCells(library)).containsAll(properties);
    }

    /** The last part of each name that the library's metadata describe under the prefix. */
    private static List<String> metadata(String prefix) throws IOException {
        Pattern name = Pattern.compile("\\{\\s*\"name\": \"" + Pattern.quote(prefix) + "([^\"]+)\",\\s*\"type\"");
        Set<String> names = new TreeSet<>();
        for (URL file : Collections.list(MigrationPageTests.class
                .getClassLoader()
                .getResources("META-INF/spring-configuration-metadata.json"))) {
            try (InputStream content = file.openStream()) {
                name.matcher(new String(content.readAllBytes(), StandardCharsets.UTF_8))
                        .results()
                        .map(match -> match.group(1).replaceAll(".*\\.", ""))
                        .forEach(names::add);
            }
        }
        return List.copyOf(names);
    }

    private static Set<String> wordsOfFirstCells(String library) {
        String section = PAGES.substring(PAGES.indexOf("\n# Migrate from " + library + "\n") + 1);
        int end = section.indexOf("\n# ");
        return (end < 0 ? section : section.substring(0, end))
                .lines()
                .filter(line -> line.startsWith("| "))
                .map(row -> row.split("\\|", 3)[1])
                .flatMap(cell -> Stream.of(cell.split("[^A-Za-z-]+", -1)))
                .map(DataObjectPropertyName::toDashedForm)
                .collect(Collectors.toSet());
    }

    private static <T> T bind(String snippet, String prefix, T properties) throws IOException {
        Matcher matcher = Pattern.compile("<!-- before: " + snippet + " -->\\s+```text\\n(.*?)```", Pattern.DOTALL)
                .matcher(PAGES);
        assertThat(matcher.find()).as(snippet).isTrue();
        List<PropertySource<?>> sources = new YamlPropertySourceLoader()
                .load(snippet, new ByteArrayResource(matcher.group(1).getBytes(StandardCharsets.UTF_8)));
        return new Binder(ConfigurationPropertySources.from(sources))
                .bind(prefix, Bindable.ofInstance(properties), new NoUnboundElementsBindHandler(BindHandler.DEFAULT))
                .get();
    }

    private static String read() {
        StringBuilder pages = new StringBuilder();
        for (String library : List.of("bucket4j", "resilience4j", "gateway", "redisson")) {
            try {
                pages.append('\n').append(Files.readString(Path.of("../docs/migration-" + library + ".md")));
            } catch (IOException e) {
                throw new IllegalStateException(e);
            }
        }
        return pages.toString();
    }
}
