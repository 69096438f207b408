package io.ratelimit.spi;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;

class WaiterTests {

    /** A call that waits without a thread would never end. */
    @Test
    void waitWhoseThreadFailsWithAnErrorFails() {
        Waiter waiter = delay -> {
            throw new NoClassDefFoundError("com/acme/Clock");
        };
        assertThat(waiter.awaitAsync(Duration.ofSeconds(1)))
                .failsWithin(Duration.ofSeconds(30))
                .withThrowableThat()
                .withCauseInstanceOf(NoClassDefFoundError.class);
    }
}
