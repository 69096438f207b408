package io.ratelimit.testing;

import io.ratelimit.LimitAttributes;
import io.ratelimit.LimitConfiguration;
import io.ratelimit.OnStoreFailure;
import io.ratelimit.internal.limiter.LocalShare;
import io.ratelimit.internal.limiter.RateLimitSettings;
import java.util.List;
import java.util.Map;

/** Settings with two defaults, and the properties of some limits by their ids. */
public final class TestSettings {

    private TestSettings() {}

    public static RateLimitSettings of(
            boolean dryRun, OnStoreFailure onStoreFailure, Map<String, LimitConfiguration> limits) {
        return of(dryRun, onStoreFailure, LocalShare.WHOLE, limits);
    }

    public static RateLimitSettings of(
            boolean dryRun, OnStoreFailure onStoreFailure, LocalShare share, Map<String, LimitConfiguration> limits) {
        return new RateLimitSettings(
                RateLimitSettings.NONE
                        .defaults()
                        .with(LimitAttributes.DRY_RUN, dryRun)
                        .with(LimitAttributes.ON_STORE_FAILURE, onStoreFailure),
                share,
                limits,
                List.of());
    }
}
