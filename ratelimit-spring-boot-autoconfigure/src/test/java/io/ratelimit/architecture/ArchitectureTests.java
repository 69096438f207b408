package io.ratelimit.architecture;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import io.ratelimit.RateLimit;
import io.ratelimit.architecture.breach.RootKnowsSpring;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class ArchitectureTests {

    private static final JavaClasses STARTER = StarterClasses.all();

    private static final JavaClasses BREACHES = new ClassFileImporter().importPackagesOf(RootKnowsSpring.class);

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

    @Test
    void testsAreNotChecked() {
        assertThat(STARTER.contain(RateLimit.class)).isTrue();
        assertThat(STARTER.contain(ArchitectureTests.class)).isFalse();
    }
}
