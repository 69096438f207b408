package com.acme.acceptance;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class ServletTests extends AbstractLimitTests {

    ServletTests() {
        super(Application.SERVLET);
    }

    @Test
    void aHandlerThatBlocksIsLimited() {
        spend("/blocking-handler", "X-Api-Key", key);
        rejected("blocking-handler", "/blocking-handler", "X-Api-Key", key);
    }

    @Test
    void applicationsShareTheirBuckets() {
        allowed("/mono?key=" + key);
        Application.REACTIVE.allowed("/mono?key=" + key);
        rejected("mono", "/mono?key=" + key);
        Application.REACTIVE.rejected("mono", "/mono?key=" + key);
        Application.IN_MEMORY.allowed("/mono?key=" + key);
    }

    @Test
    void healthShowsThatLimitsAreShared() {
        assertThat(Application.SERVLET.<String>json("/actuator/health/ratelimit", "$.details.limits"))
                .isEqualTo("shared");
    }
}
