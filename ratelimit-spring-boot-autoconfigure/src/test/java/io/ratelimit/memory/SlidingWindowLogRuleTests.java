package io.ratelimit.memory;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** How much a log remembers. */
class SlidingWindowLogRuleTests {

    private static final SlidingWindowLogRule TEN = new SlidingWindowLogRule(10, 1_000_000);

    @Test
    void logRemembersNoMoreThanItsCapacityOfWhatAnotherRuleAdmits() {
        PermitLog log = TEN.unused(0);
        for (int call = 0; call < 1_000; call++) {
            log = TEN.witness(log, call, 1);
        }
        assertThat(log.size()).isEqualTo(10);
        assertThat(log.used()).isEqualTo(10);
    }

    @Test
    void entryThatIsPartlyBeyondTheCapacityIsRemembered() {
        PermitLog log = TEN.witness(TEN.unused(0), 0, 4);
        log = TEN.witness(log, 1, 8);
        assertThat(log.size()).isEqualTo(2);
        log = TEN.witness(log, 2, 2);
        assertThat(log.size()).isEqualTo(2);
    }
}
