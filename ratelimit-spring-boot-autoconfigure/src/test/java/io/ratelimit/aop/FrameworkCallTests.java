package io.ratelimit.aop;

import static io.ratelimit.autoconfigure.LimitedContexts.analysis;
import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.autoconfigure.LimitedContexts;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.test.util.ReflectionTestUtils;

/** Methods that Spring and other frameworks call, past the proxy or with an answer of their own to a rejection. */
class FrameworkCallTests {

    private final ApplicationContextRunner runner = LimitedContexts.inMemory();

    @ParameterizedTest
    @CsvSource({
        "CreatesABean, creates a bean, write a class for a lambda",
        "IsAFactoryBean, creates a bean, Annotate the method of the bean's class",
        "IsASmartFactoryBean, creates a bean, Annotate the method of the bean's class",
        "IsCalledAfterConstruction, no proxy, Annotate a method that other beans call",
        "IsCalledBeforeDestruction, no proxy, Annotate a method that other beans call",
        "IsInitialized, no proxy, Annotate a method that other beans call",
        "IsAware, no proxy, Annotate a method that other beans call",
        "IsWired, no proxy, Annotate a method that other beans call",
        "IsGivenAResource, no proxy, Annotate a method that other beans call",
        "ProcessesDefinitions, no proxy, Annotate a method that other beans call",
        "TellsHealth, by the bean itself, Annotate a method that other beans call",
        "TellsHealthReactively, by the bean itself, Annotate a method that other beans call",
        "ChecksHealth, by the bean itself, Annotate a method that other beans call",
        "IsStarted, must not fail, Annotate a method that other beans call",
        "ListensToRequests, the web server answers a rejection with 500 or an error, URL rule",
        "ListensToSessions, the web server answers a rejection with 500 or an error, URL rule",
        "IsAFilter, the web server answers a rejection with 500, URL rule",
        "IsAnAnnotatedFilter, the web server answers a rejection with 500, URL rule",
        "LoadsUsers, as if the password were wrong, requests that log in",
        "LoadsUsersOfAManager, as if the password were wrong, requests that log in",
        "LoadsAccounts, as if the password were wrong, requests that log in",
        "RetrievesUsers, as if the password were wrong, requests that log in",
        "Converts, as if the value were wrong, Annotate the method that takes the value",
        "ConvertsLanguages, as if the value were wrong, Annotate the method that takes the value",
        "ConvertsUnderCondition, as if the value were wrong, Annotate the method that takes the value",
        "Formats, as if the value were wrong, Annotate the method that takes the value",
        "HandlesExceptions, a failure of the handler instead, Annotate the methods that handle requests",
        "HandlesExceptionsOfMessages, a failure of the handler instead, Annotate the methods that handle requests",
        "ChangesBodies, a failure of the handler instead, Annotate the methods that handle requests"
    })
    void methodThatAFrameworkCallsInItsOwnWayStopsTheStartUp(String type, String problem, String fix) {
        runner.withUserConfiguration(nested(type)).run(context -> {
            FailureAnalysis analysis = analysis(context);
            assertThat(analysis.getDescription())
                    .contains("Where: " + nested(type).getName() + ".")
                    .contains(
                            "must apply to methods whose callers go through a proxy and see a rejection (was on a method"
                                    + " that")
                    .contains(problem);
            assertThat(analysis.getAction()).contains(fix);
        });
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void methodThatTheBeanDefinitionNamesForItsBeginOrEndStopsTheStartUp(boolean begin) {
        runner.withBean(FrameworkBeans.BeginsAndEnds.class, FrameworkBeans.BeginsAndEnds::new, definition -> {
                    definition.setInitMethodName(begin ? "call" : null);
                    definition.setDestroyMethodName(begin ? null : "call");
                })
                .run(context -> {
                    FailureAnalysis analysis = analysis(context);
                    assertThat(analysis.getDescription())
                            .contains("Where: " + FrameworkBeans.BeginsAndEnds.class.getName() + ".call()")
                            .contains("no proxy");
                    assertThat(analysis.getAction()).contains("Annotate a method that other beans call");
                });
    }

    /** They are known by their names. Those of patterns are found by the tests above. */
    @Test
    void typesOfFrameworksExist() {
        List<String> names = Arrays.stream(FrameworkCall.values())
                .flatMap(call -> Stream.of((String[]) ReflectionTestUtils.getField(call, "names")))
                .filter(name -> !name.contains("*"))
                .toList();
        assertThat(names)
                .hasSizeGreaterThan(15)
                .contains("jakarta.inject.Inject")
                .allSatisfy(name -> assertThat(Class.forName(name)).isNotNull());
    }

    @Test
    void annotatedPostProcessorOfDefinitionsStopsTheStartUp() {
        runner.withBean(FrameworkBeans.ProcessesDefinitionsToo.class)
                .run(context -> assertThat(analysis(context).getDescription())
                        .contains("Where: " + FrameworkBeans.ProcessesDefinitionsToo.class.getName() + ".call()")
                        .contains("it was created before beans are proxied"));
    }

    /** One without an order is created when beans are proxied already, and is limited. */
    @Test
    void annotatedPostProcessorThatComesFirstStopsTheStartUp() {
        runner.withBean(FrameworkBeans.PostProcesses.class)
                .run(context -> assertThat(analysis(context).getDescription())
                        .contains("Where: " + FrameworkBeans.PostProcesses.class.getName() + ".call()")
                        .contains("it was created before beans are proxied"));
    }

    private static Class<?> nested(String name) {
        return Arrays.stream(FrameworkBeans.class.getDeclaredClasses())
                .filter(type -> type.getSimpleName().equals(name))
                .findFirst()
                .orElseThrow();
    }
}
