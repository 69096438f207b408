package com.acme.acceptance;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class ReactiveTests extends AbstractLimitTests {

    ReactiveTests() {
        super(Application.REACTIVE);
    }

    /** The first three decisions are those of Redis, the others are remembered rejections. */
    @Test
    void aKeptConnectionAnswersRemoteAndRememberedDecisions() {
        for (int bucket = 0; bucket < 200; bucket++) {
            String path = "/mono?key=" + bucket + key;
            for (int call = 1; call <= 5; call++) {
                assertThat(Application.REACTIVE.statusOnKeptConnection(path))
                        .as("call %d of %s", call, path)
                        .isEqualTo(call <= 2 ? 200 : 429);
            }
        }
    }
}
