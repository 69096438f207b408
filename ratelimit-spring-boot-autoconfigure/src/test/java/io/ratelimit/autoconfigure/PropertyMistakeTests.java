package io.ratelimit.autoconfigure;

import static io.ratelimit.autoconfigure.LimitedContexts.analysis;
import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.annotation.RateLimited;
import java.io.IOException;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.core.env.MapPropertySource;
import org.springframework.core.env.SystemEnvironmentPropertySource;

class PropertyMistakeTests {

    private final ApplicationContextRunner runner = LimitedContexts.inMemory();

    @ParameterizedTest
    @CsvSource({
        "ratelimit.limits.quotes.capasity,Did you mean ratelimit.limits.quotes.capacity?",
        "ratelimit.limits.quotes.key,Under ratelimit.limits.quotes there are: algorithm",
        "ratelimit.limits.quotes.keyExpresion,Did you mean ratelimit.limits.quotes.key-expression?",
        "ratelimit.stoer,Did you mean ratelimit.store?",
        "ratelimit.on-store-failures,Did you mean ratelimit.on-store-failure?",
        "ratelimit.limit.quotes.rate,Did you mean ratelimit.limits?",
        "ratelimit.redis.key-prefx,Did you mean ratelimit.redis.key-prefix?",
        "ratelimit.in-memory.max-key,Did you mean ratelimit.in-memory.max-keys?",
        "ratelimit.inMemory.maxKey,max-keys?",
        "ratelimit.web.filter-ordr,Did you mean ratelimit.web.filter-order?",
        "ratelimit.http[0].limt,Did you mean ratelimit.http[0].limit?",
        "ratelimit.http[0].uri,'Under ratelimit.http[0] there are: path, methods, limit, order.'",
        "ratelimit.web.header,Did you mean ratelimit.web.headers?",
        "ratelimit.colour,Under ratelimit there are: enabled"
    })
    void unknownPropertyStopsTheStartUpAndTheNearestIsNamed(String property, String suggestion) {
        runner.withInitializer(context -> context.getEnvironment()
                        .getPropertySources()
                        .addLast(new MapPropertySource("file", Map.of(property, "1"))))
                .run(context -> {
                    FailureAnalysis analysis = analysis(context);
                    assertThat(analysis.getDescription().toLowerCase(Locale.ROOT))
                            .contains("there is no property " + property.toLowerCase(Locale.ROOT));
                    assertThat(analysis.getAction()).contains(suggestion);
                });
    }

    @ParameterizedTest
    @ValueSource(strings = {"ratelimit.http[1].path", "ratelimit.limits.quotes.refund-on[1]"})
    void gapInAListStopsTheStartUp(String property) {
        runner.withPropertyValues(property + "=x").run(context -> {
            FailureAnalysis analysis = analysis(context);
            assertThat(analysis.getDescription()).contains("There is no element before " + property + " (");
            assertThat(analysis.getAction()).isEqualTo("Number the elements of the list from 0, without gaps.");
        });
    }

    static Stream<String> namesOfTheMetadata() throws IOException {
        return ConfigurationMetadataTests.names().stream();
    }

    @ParameterizedTest
    @MethodSource("namesOfTheMetadata")
    void everyPropertyIsSuggestedAndListed(String property) {
        String parent = property.substring(0, property.lastIndexOf('.'));
        String child = property.substring(parent.length() + 1);
        runner.withPropertyValues(property + "x=1", parent + ".colour=1").run(context -> {
            String action = analysis(context).getAction();
            assertThat(action).contains("Did you mean " + property + "? Under " + parent + " there are: ");
            assertThat(action.lines()
                            .filter(line -> line.startsWith("Under " + parent + " there are: "))
                            .flatMap(line -> Stream.of(
                                    line.substring(line.indexOf(": ") + 2).split("[,.] ?"))))
                    .contains(child);
        });
    }

    @ParameterizedTest
    @CsvSource({
        "ratelimit.web.ipv6-prefix,0,ratelimit.web.ipv6-prefix must be from 1 to 128 (was 0).",
        "ratelimit.web.missing-key-status,200,ratelimit.web.missing-key-status must be from 400 to 599 (was 200).",
        "ratelimit.web.missing-key-status,600,ratelimit.web.missing-key-status must be from 400 to 599 (was 600).",
        "ratelimit.web.outbound-status,200,ratelimit.web.outbound-status must be from 400 to 599 (was 200).",
        "ratelimit.web.ipv6-prefix,129,ratelimit.web.ipv6-prefix must be from 1 to 128 (was 129).",
        "ratelimit.redis.timeout,0ms,ratelimit.redis.timeout must be positive (was 0s).",
        "ratelimit.redis.timeout,-100ms,ratelimit.redis.timeout must be positive (was -100ms).",
        "ratelimit.redis.key-prefix,${nope},'ratelimit.redis.key-prefix must not have an unresolved placeholder (was \"${nope}\").'",
        "ratelimit.redis.key-prefix,a{b},'ratelimit.redis.key-prefix must not contain braces (was \"a{b}\").'",
        "ratelimit.in-memory.max-keys,0,ratelimit.in-memory.max-keys must be at least 1 (was 0)."
    })
    void valueThatCannotWorkStopsTheStartUp(String property, String value, String problem) {
        runner.withPropertyValues(property + "=" + value)
                .run(context -> assertThat(analysis(context).getDescription()).contains(problem));
    }

    @Test
    void emptyEnvironmentVariableStopsTheStartUp() {
        runner.withInitializer(context -> context.getEnvironment()
                        .getPropertySources()
                        .addFirst(new SystemEnvironmentPropertySource(
                                "test-systemEnvironment", Map.of("RATELIMIT_LIMITS_QUOTES_KEYEXPRESSION", ""))))
                .run(context -> assertThat(analysis(context).getDescription())
                        .contains("ratelimit.limits.quotes.key-expression must not be empty."));
    }

    @Test
    void emptyValueThatIsOverriddenIsNoMistake() {
        runner.withBean(Quotes.class)
                .withPropertyValues("ratelimit.limits.quotes.key-expression='all'", "ratelimit.order=1")
                .withInitializer(context -> context.getEnvironment()
                        .getPropertySources()
                        .addLast(new MapPropertySource(
                                "file",
                                Map.of("ratelimit.limits.quotes.keyExpression", "", "ratelimit.order", "${nope}"))))
                .run(context -> assertThat(context).hasNotFailed());
    }

    @Test
    void unknownLimitStopsTheStartUpAndTheNearestIsNamed() {
        runner.withBean(Quotes.class)
                .withPropertyValues("ratelimit.limits.quoets.capacity=50")
                .run(context -> {
                    FailureAnalysis analysis = analysis(context);
                    assertThat(analysis.getDescription())
                            .contains("ratelimit.limits.quoets must name a declared limit, or have a rate.");
                    assertThat(analysis.getAction())
                            .isEqualTo("Did you mean ratelimit.limits.quotes? With a rate, it declares a limit"
                                    + " itself. A class that is no bean, such as a Quartz job, declares one as a prototype"
                                    + " bean, and a bean that is created late if its @Bean method returns the class. Known"
                                    + " limits: quotes.");
                });
    }

    @Test
    void unknownLimitWithoutANearOneListsThoseThereAre() {
        runner.withBean(Quotes.class)
                .withPropertyValues("ratelimit.limits.exports.capacity=50")
                .run(
                        context -> assertThat(analysis(context).getAction())
                                .isEqualTo(
                                        "With a rate, it declares a limit itself. A class that is no bean, such as a Quartz"
                                                + " job, declares one as a prototype bean, and a bean that is created late if its @Bean method returns the class. Known limits: quotes."));
    }

    @ParameterizedTest
    @CsvSource({
        "ratelimit.store,redi,REDIS",
        "ratelimit.http[0].methods,GETT,GET",
        "ratelimit.web.headers,all,LEGACY",
        "ratelimit.on-store-failure,retry,LOCAL",
        "ratelimit.limits.quotes.algorithm,token,TOKEN_BUCKET",
        "ratelimit.limits.quotes.refill,never,CONTINUOUS",
        "ratelimit.limits.quotes.on-store-failure,never,REJECT"
    })
    void unknownValueStopsTheStartUpAndTheValuesAreNamed(String property, String value, String valid) {
        runner.withPropertyValues(property + "=" + value).run(context -> {
            FailureAnalysis analysis = analysis(context);
            assertThat(analysis.getDescription()).contains(property, value);
            assertThat(analysis.getAction()).contains(valid);
        });
    }

    @ParameterizedTest
    @CsvSource({"ratelimit.order,first", "ratelimit.redis.timeout,soon", "ratelimit.limits.quotes.capacity,many"})
    void valueOfTheWrongKindStopsTheStartUp(String property, String value) {
        runner.withPropertyValues(property + "=" + value)
                .run(context -> assertThat(analysis(context).getDescription()).contains(property, value));
    }

    @Test
    void redisWithoutSpringDataStopsTheStartUp() {
        new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(RateLimitAutoConfiguration.class))
                .withClassLoader(new FilteredClassLoader("org.springframework.data.redis"))
                .run(this::assertRedisIsMissing);
    }

    private void assertRedisIsMissing(AssertableApplicationContext context) {
        FailureAnalysis analysis = analysis(context);
        assertThat(analysis.getDescription())
                .contains("ratelimit.store must be in-memory without a RedisConnectionFactory bean (was redis).");
        assertThat(analysis.getAction())
                .isEqualTo("Add spring-boot-starter-data-redis, or set ratelimit.store=in-memory.");
    }

    static class Quotes {

        @RateLimited(name = "quotes", rate = "1/s")
        public void quote() {}
    }
}
