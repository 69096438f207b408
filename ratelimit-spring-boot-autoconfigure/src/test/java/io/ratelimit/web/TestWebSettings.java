package io.ratelimit.web;

import io.ratelimit.LimitCatalog;
import io.ratelimit.OnStoreFailure;
import io.ratelimit.RateLimitSettings;
import java.util.Map;

/** Settings without an application: the defaults, and no limits that are known by name. */
public final class TestWebSettings {

    private TestWebSettings() {}

    public static WebSettings of(HeaderFields headers) {
        return new WebSettings(
                headers, 64, 400, new LimitCatalog(new RateLimitSettings(false, OnStoreFailure.LOCAL, Map.of())));
    }
}
