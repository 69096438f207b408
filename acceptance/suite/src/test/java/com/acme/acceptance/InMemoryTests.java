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

    @Test
    void limitsCannotBeChangedWithoutAccess() {
        String path = "/actuator/ratelimits/plain";
        assertThat(Application.IN_MEMORY.send("POST", path, "{\"capacity\": 9}").statusCode())
                .isEqualTo(405);
        assertThat(Application.IN_MEMORY.send("DELETE", path, "").statusCode()).isEqualTo(405);
        assertThat(Application.IN_MEMORY.<Integer>json(path, "$.capacity")).isEqualTo(2);
    }

    @Test
    void theEndpointShowsTheBucketOfAKey() {
        allowed("/plain?key=" + key);
        String path = "/actuator/ratelimits/plain?key=" + key;
        assertThat(Application.IN_MEMORY.<Integer>json(path, "$.remaining")).isEqualTo(1);
        assertThat(Application.IN_MEMORY.<Integer>json(path, "$.remaining")).isEqualTo(1);
    }
}
