package io.ratelimit.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import java.io.File;
import java.io.IOException;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Starts an application without libraries that are optional. In a class loader of its own, because one that only hides
 * classes leaves our own linked against them.
 */
class ReducedClassPathTests {

    @ParameterizedTest(name = "without {0}")
    @CsvSource({
        "'spring-data|lettuce|netty|reactor|spring-tx|reactive-streams|spring-boot-data|spring-boot-transaction'",
        "'micrometer|actuator'",
        "'spring-web|tomcat|jakarta.servlet|spring-boot-webmvc|spring-boot-servlet|spring-boot-web-server'",
        "actuator",
        "aspectjweaver",
        "'kotlin|context-propagation|blockhound'",
        "spring-security",
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

    @Test
    void redisApplicationStartsWithoutLettuceAndReactor() throws ReflectiveOperationException, IOException {
        assertThat(run(
                        "lettuce|netty|reactor|reactive-streams",
                        "--ratelimit.on-store-failure=local",
                        "--spring.profiles.active=other-driver"))
                .isEqualTo("limited");
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
        Thread thread = Thread.currentThread();
        ClassLoader before = thread.getContextClassLoader();
        try (URLClassLoader loader = new URLClassLoader(without(missing), ClassLoader.getPlatformClassLoader())) {
            thread.setContextClassLoader(loader);
            List<String> all = new ArrayList<>(List.of(arguments));
            all.add("--spring.main.banner-mode=off");
            if (all.stream().noneMatch(argument -> argument.startsWith("--spring.main.web-application-type="))) {
                all.add("--spring.main.web-application-type=none");
            }
            return (String) loader.loadClass(SmallApplication.class.getName())
                    .getMethod("run", String[].class)
                    .invoke(null, (Object) all.toArray(String[]::new));
        } finally {
            thread.setContextClassLoader(before);
        }
    }

    private static URL[] without(String missing) {
        Pattern pattern = Pattern.compile(missing);
        return Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator))
                .map(File::new)
                .filter(entry ->
                        entry.isDirectory() || !pattern.matcher(entry.getName()).find())
                .map(entry -> {
                    try {
                        return entry.toURI().toURL();
                    } catch (MalformedURLException ex) {
                        throw new IllegalStateException(ex);
                    }
                })
                .toArray(URL[]::new);
    }
}
