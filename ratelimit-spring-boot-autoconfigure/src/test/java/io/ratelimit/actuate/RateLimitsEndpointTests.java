package io.ratelimit.actuate;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.OnStoreFailure;
import io.ratelimit.RateLimit;
import io.ratelimit.Refill;
import io.ratelimit.actuate.RateLimitsEndpoint.LimitDescriptor;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class RateLimitsEndpointTests {

    @Test
    void describesLimitsByNameWithTheirMethods() {
        RateLimit quotes = RateLimit.named("quotes").capacity(20).rate("10/s").build();
        RateLimit exports = RateLimit.named("exports").rate("600/60m").build();
        RateLimit reports = RateLimit.named("reports")
                .rate("10/s")
                .maxWait(Duration.ofMillis(1_500))
                .build();
        RateLimit batches = RateLimit.named("batches")
                .rate("10/s")
                .refill(Refill.INTERVAL)
                .lease(4)
                .build();
        RateLimitsEndpoint endpoint = new RateLimitsEndpoint(
                () -> List.of(quotes, exports, reports, batches),
                () -> Map.of("quotes", List.of("com.acme.Quotes.quote(String)")),
                () -> Map.of("exports", List.of("POST /exports")),
                name -> name.equals("quotes") ? "execution(* quote(..))" : null);
        assertThat(endpoint.limits().limits())
                .containsExactly(
                        Map.entry("batches", descriptor(10, "10/s", "INTERVAL", "PT0S", 4, null, List.of(), List.of())),
                        Map.entry(
                                "exports",
                                descriptor(
                                        600,
                                        "600/h",
                                        "CONTINUOUS",
                                        "PT0S",
                                        0,
                                        null,
                                        List.of(),
                                        List.of("POST /exports"))),
                        Map.entry(
                                "quotes",
                                descriptor(
                                        20,
                                        "10/s",
                                        "CONTINUOUS",
                                        "PT0S",
                                        0,
                                        "execution(* quote(..))",
                                        List.of("com.acme.Quotes.quote(String)"),
                                        List.of())),
                        Map.entry(
                                "reports",
                                descriptor(10, "10/s", "CONTINUOUS", "PT1.5S", 0, null, List.of(), List.of())));
    }

    private static LimitDescriptor descriptor(
            long capacity,
            String rate,
            String refill,
            String maxWait,
            long lease,
            @Nullable String pointcut,
            List<String> methods,
            List<String> requests) {
        return new LimitDescriptor(
                "TOKEN_BUCKET",
                capacity,
                rate,
                refill,
                maxWait,
                lease,
                true,
                false,
                OnStoreFailure.LOCAL.name(),
                pointcut,
                methods,
                requests);
    }
}
