package com.acme.acceptance;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** This application knows of no Redis. */
class InMemoryTests extends AbstractLimitTests {

    InMemoryTests() {
        super(Application.IN_MEMORY);
    }

    @Test
    void healthDoesNotLookForAServer() {
        assertThat(Application.IN_MEMORY.<String>json("/actuator/health", "$.status"))
                .isEqualTo("UP");
    }
}
