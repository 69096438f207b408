package io.ratelimit.internal.memory;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** How much a log remembers. */
class SlidingWindowLogRuleTests {

    private static final SlidingWindowLogRule TEN = new SlidingWindowLogRule(10, 1_000_000);

    @Test
    void logRemembersNoMoreThanItsCapacityOfWhatAnotherRuleAdmits() {
        PermitLog log = TEN.unused(0);
        for (int call = 0; call < 1_000; call++) {
            log = TEN.observe(log, call, 1, null);
        }
        assertThat(log.size()).isEqualTo(10);
        assertThat(log.used()).isEqualTo(10);
    }

    @Test
    void entryThatIsPartlyBeyondTheCapacityIsRemembered() {
        PermitLog log = TEN.observe(TEN.unused(0), 0, 4, null);
        log = TEN.observe(log, 1, 8, null);
        assertThat(log.size()).isEqualTo(2);
        log = TEN.observe(log, 2, 2, null);
        assertThat(log.size()).isEqualTo(2);
    }
}
