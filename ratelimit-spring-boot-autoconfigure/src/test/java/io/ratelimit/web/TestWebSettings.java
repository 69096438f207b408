package io.ratelimit.web;

import io.ratelimit.OnStoreFailure;
import io.ratelimit.internal.limiter.LimitCatalog;
import io.ratelimit.spi.TimeSource;
import io.ratelimit.testing.TestSettings;
import java.util.Map;

/** Settings without an application: the defaults, and no limits that are known by name. */
public final class TestWebSettings {

    private TestWebSettings() {}

    public static WebSettings of(HeaderFormat headers) {
        return new WebSettings(
                headers,
                64,
                400,
                503,
                new LimitCatalog(TestSettings.of(false, OnStoreFailure.LOCAL, Map.of()), null, () -> false),
                TimeSource.monotonic());
    }
}
