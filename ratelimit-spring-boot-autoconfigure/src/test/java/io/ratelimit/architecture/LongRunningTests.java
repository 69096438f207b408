package io.ratelimit.architecture;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.testing.Sources;
import io.ratelimit.testing.TestRandom;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** What has an execution of its own in the POMs runs there only. */
class LongRunningTests {

    private static final Pattern OWN_EXECUTION =
            Pattern.compile(".*/(outage/\\w*Tests|\\w*(ModelChecking|Allocation)Tests)\\.java");

    @Test
    void testsWithAnExecutionOfTheirOwnAreLong() {
        assertThat(Sources.files("src/test/java"))
                .filteredOn(file -> OWN_EXECUTION.matcher(file.toString()).matches())
                .hasSizeGreaterThan(20)
                .allSatisfy(file -> assertThat(file).content().contains("\n@LongRunning\n"));
    }

    @Test
    void testsThatTryFewerCasesInEachBuildTryMoreInTheLongTier() {
        assertThat(Sources.files("src/test/java"))
                .filteredOnAssertions(
                        file -> assertThat(file).content().contains(TestRandom.class.getSimpleName() + ".cases("))
                .hasSizeGreaterThan(30)
                .allSatisfy(file -> assertThat(file).content().containsPattern("\n *@(BothTiers|LongRunning)\n"));
    }
}
