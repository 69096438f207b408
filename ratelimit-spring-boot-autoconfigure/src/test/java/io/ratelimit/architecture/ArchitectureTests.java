package io.ratelimit.architecture;

import static java.util.stream.Collectors.groupingBy;
import static java.util.stream.Collectors.mapping;
import static java.util.stream.Collectors.toSet;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import io.ratelimit.RateLimit;
import io.ratelimit.architecture.breach.RootKnowsSpring;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class ArchitectureTests {

    private static final JavaClasses STARTER = StarterClasses.all();

    private static final JavaClasses BREACHES = new ClassFileImporter().importPackagesOf(RootKnowsSpring.class);

    /** Also words that are verbs first. */
    private static final Set<String> PARTICIPLES = Set.of(
            "Assembled",
            "Held",
            "Hiding",
            "Kept",
            "Look",
            "Probed",
            "Received",
            "Room",
            "Sent",
            "Showing",
            "Subscribing",
            "Timed",
            "Told",
            "Unlimited");

    @ParameterizedTest
    @EnumSource
    void ruleHolds(ArchitectureRule rule) {
        rule.in(RateLimit.class.getPackageName()).check(STARTER);
    }

    @ParameterizedTest
    @EnumSource
    void ruleCanFail(ArchitectureRule rule) {
        assertThatExceptionOfType(AssertionError.class)
                .isThrownBy(
                        () -> rule.in(RootKnowsSpring.class.getPackageName()).check(BREACHES))
                .satisfies(failure -> assertThat(failure.getMessage())
                        .contains(rule.breaches().toArray(String[]::new)));
    }

    /** A reader cannot tell which of both does what. Name the second by what it is: a factory, a resolver, a registry. */
    @Test
    void noTwoClassesDifferByAPluralAlone() {
        assertThat(STARTER.stream()
                        .filter(JavaClass::isTopLevelClass)
                        .collect(groupingBy(
                                type -> singular(type.getSimpleName()), mapping(JavaClass::getSimpleName, toSet())))
                        .values())
                .filteredOn(names -> names.size() > 1)
                // Named as the language asks for a container, and as the JDK names factories.
                .containsExactlyInAnyOrder(Set.of("RateLimit", "RateLimits"), Set.of("RateLimiter", "RateLimiters"));
        assertThat(List.of("PlanCaches", "ReturnTypeStrategies", "LimitsDescriptor", "Status"))
                .map(ArchitectureTests::singular)
                .containsExactly("PlanCache", "ReturnTypeStrategy", "LimitDescriptor", "Status");
    }

    @Test
    void noClassIsNamedByAParticiple() {
        assertThat(STARTER.stream().map(JavaClass::getSimpleName)).doesNotContainAnyElementsOf(PARTICIPLES);
    }

    @Test
    void testsAreNotChecked() {
        assertThat(STARTER.contain(RateLimit.class)).isTrue();
        assertThat(STARTER.contain(ArchitectureTests.class)).isFalse();
    }

    private static String singular(String name) {
        return name.replaceAll("ies(?=[A-Z]|$)", "y").replaceAll("(?<![su])s(?=[A-Z]|$)", "");
    }
}
