package io.ratelimit.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.ratelimit.testing.LongRunning;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Starts an application without libraries that are optional. */
@LongRunning
class ReducedClassPathTests {

    @ParameterizedTest(name = "without {0}")
    @CsvSource({
        "'spring-data|lettuce|netty|reactor|spring-tx|reactive-streams|spring-boot-data|spring-boot-transaction'",
        "'micrometer|actuator'",
        "'spring-web|tomcat|jakarta.servlet|spring-boot-webmvc|spring-boot-servlet|spring-boot-web-server'",
        "actuator",
        // Nothing that needs one of these needs another one.
        "'aspectjweaver|kotlin|context-propagation|blockhound'",
        "'spring-security|spring-ai|graphql|dataloader|grpc|proto|spring-websocket|spring-messaging|jersey|jakarta.ws.rs'",
        "'lettuce|netty|reactor|reactive-streams'"
    })
    void inMemoryApplicationStartsAndLimits(String missing) throws ReflectiveOperationException, IOException {
        assertThat(run(missing, "--ratelimit.store=in-memory")).isEqualTo("limited");
    }

    @Test
    void disabledApplicationStartsWithoutAnyOfThem() throws ReflectiveOperationException, IOException {
        assertThat(run(
                        "spring-data|lettuce|netty|reactor|spring-tx|micrometer|actuator|spring-web|tomcat|servlet|aspectj",
                        "--ratelimit.enabled=false"))
                .isEqualTo("unlimited");
    }

    @ParameterizedTest(name = "without {0}")
    @CsvSource({"'lettuce|netty|reactor|reactive-streams'", "'actuator|spring-boot-health'", "spring-boot-health"})
    void redisApplicationStartsAndLimits(String missing) throws ReflectiveOperationException, IOException {
        assertThat(run(missing, "--ratelimit.on-store-failure=local", "--spring.profiles.active=other-driver"))
                .isEqualTo("limited");
    }

    @Test
    void redisForRateLimitsAloneNeedsLettuce() {
        assertThat(catchThrowable(
                        () -> run("lettuce|netty|reactor|reactive-streams", "--ratelimit.redis.url=redis://localhost")))
                .hasStackTraceContaining(
                        "ratelimit.redis must have no connection properties without Lettuce on the class path.");
    }

    @Test
    void pointcutWithoutAspectJStopsTheStartUp() {
        assertThat(catchThrowable(() -> run(
                        "aspectjweaver",
                        "--ratelimit.store=in-memory",
                        "--ratelimit.limits.quotes.pointcut=execution(* quote(..))")))
                .hasStackTraceContaining(
                        "ratelimit.limits.quotes.pointcut needs AspectJ's weaver, which is not on the class path. Add"
                                + " org.aspectj:aspectjweaver");
    }

    @Test
    void functionThatSuspendsNeedsALibraryOfKotlins() {
        assertThatThrownBy(() -> run(
                        "kotlinx-coroutines-reactor", "--ratelimit.store=in-memory", "--spring.profiles.active=kotlin"))
                .hasStackTraceContaining("cannot be limited without kotlinx-coroutines-reactor")
                .hasStackTraceContaining("Add org.jetbrains.kotlinx:kotlinx-coroutines-reactor.");
    }

    /** Servlet applications without what is reactive and without Spring Security: the sample is one. */
    @Test
    void reactiveApplicationStartsWithoutServletsAndSecurity() throws ReflectiveOperationException, IOException {
        assertThat(run(
                        "spring-security|tomcat|jakarta.servlet|spring-webmvc|boot-webmvc|boot-servlet",
                        "--ratelimit.store=in-memory",
                        "--spring.main.web-application-type=reactive",
                        "--server.port=0"))
                .isEqualTo("limited");
    }

    /** What the application says, run on this class path without the jars of these names. */
    private static String run(String missing, String... arguments) throws ReflectiveOperationException, IOException {
        List<String> all = new ArrayList<>(List.of(arguments));
        all.add("--spring.main.banner-mode=off");
        if (all.stream().noneMatch(argument -> argument.startsWith("--spring.main.web-application-type="))) {
            all.add("--spring.main.web-application-type=none");
        }
        try (OtherClassPath classes = OtherClassPath.without(missing)) {
            return (String) classes.run(SmallApplication.class, all.toArray(String[]::new));
        }
    }
}
