package io.ratelimit;

import static io.ratelimit.LeasingInstances.window;
import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** How many permits are taken in advance. */
@Timeout(60)
class LeaseGrowthTests {

    @RegisterExtension
    final LeasingInstances instances = new LeasingInstances();

    private final TestClock clock = instances.clock();

    private final TrippingStore trips = instances.trips();

    @Test
    void leasesGrowWithDemandUpToWhatIsConfigured() {
        RateLimit limit = window("quotes", 1_000, 10);
        instances.take(60, limit);
        assertThat(trips.asked()).startsWith("1", "1+1", "1+2", "1+4", "1+8", "1+10", "1+10");
        assertThat(instances.used(limit)).isBetween(60L, 70L);
    }

    /** What was not used of a window is its loss: the next one begins with what was. */
    @Test
    void leasesComeDownToWhatWasUsed() {
        RateLimit limit = window("quotes", 1_000, 100);
        instances.take(1 + 2 + 3 + 5 + 9 + 17 + 3, limit);
        assertThat(trips.asked()).endsWith("1+16", "1+32");
        clock.advance(Duration.ofHours(1));
        instances.take(1, limit);
        assertThat(trips.asked()).endsWith("1+32", "1+2");
    }
}
