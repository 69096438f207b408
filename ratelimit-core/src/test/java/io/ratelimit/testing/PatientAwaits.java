package io.ratelimit.testing;

import java.time.Duration;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * Has all tests wait longer than Awaitility would, ten seconds: a machine can be busy, and a test that passes waits no longer. And has
 * them look at once and more often than each 100 milliseconds, which would add up to a tenth of all tests.
 */
public final class PatientAwaits implements BeforeAllCallback {

    private static final Duration PATIENCE = Duration.ofMinutes(1);

    private static final Duration PAUSE = Duration.ofMillis(10);

    @Override
    public void beforeAll(ExtensionContext context) {
        Awaitility.setDefaultTimeout(PATIENCE);
        Awaitility.setDefaultPollDelay(Duration.ZERO);
        Awaitility.setDefaultPollInterval(PAUSE);
    }
}
