package io.ratelimit.actuate;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.OnStoreFailure;
import io.ratelimit.RateLimit;
import io.ratelimit.actuate.RateLimitsEndpoint.LimitDescriptor;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class RateLimitsEndpointTests {

    @Test
    void describesLimitsByNameWithTheirMethods() {
        RateLimit quotes = RateLimit.named("quotes").capacity(20).rate("10/s").build();
        RateLimit exports = RateLimit.named("exports").rate("600/60m").build();
        RateLimitsEndpoint endpoint = new RateLimitsEndpoint(
                () -> List.of(quotes, exports), () -> Map.of("quotes", List.of("com.acme.Quotes.quote(String)")));
        assertThat(endpoint.limits().limits())
                .containsExactly(
                        Map.entry("exports", descriptor(600, "600/h", List.of())),
                        Map.entry("quotes", descriptor(20, "10/s", List.of("com.acme.Quotes.quote(String)"))));
    }

    private static LimitDescriptor descriptor(long capacity, String rate, List<String> methods) {
        return new LimitDescriptor(
                "TOKEN_BUCKET",
                capacity,
                rate,
                "CONTINUOUS",
                "PT0S",
                true,
                false,
                OnStoreFailure.LOCAL.name(),
                methods);
    }
}
