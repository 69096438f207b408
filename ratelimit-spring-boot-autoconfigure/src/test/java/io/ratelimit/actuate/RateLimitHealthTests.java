package io.ratelimit.actuate;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.RateLimitStoreException.Reason;
import io.ratelimit.spi.StoreFailure;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.junit.jupiter.api.Test;

class RateLimitHealthTests {

    private static final Instant SINCE = Instant.parse("2026-11-07T03:00:00.123456Z");

    private static final StoreFailure OF_STORE =
            new StoreFailure(Reason.TIMEOUT, "Redis: no answer in time", SINCE, 123);

    private static final StoreFailure OF_A_BUCKET =
            new StoreFailure(Reason.FOREIGN_VALUE, "Redis: WRONGTYPE", SINCE.plusSeconds(1), 4);

    @Test
    void withoutTroubleLimitsAreShared() {
        assertThat(RateLimitHealth.of(List.of(), "DOWN"))
                .isEqualTo(new RateLimitHealth("UP", Map.of("limits", "shared")));
    }

    @Test
    void troubleOfTheStoreIsDescribed() {
        assertThat(RateLimitHealth.of(List.of(OF_STORE), "UP"))
                .isEqualTo(new RateLimitHealth(
                        "UP", Map.of("limits", "on-store-failure", "failures", List.of(described(OF_STORE)))));
    }

    @Test
    void troubleOfTheStoreIsAsBadAsAsked() {
        assertThat(RateLimitHealth.of(List.of(OF_STORE), "DOWN").status()).isEqualTo("DOWN");
    }

    @Test
    void foreignValueLeavesTheOtherLimitsSharedAndTheApplicationHealthy() {
        assertThat(RateLimitHealth.of(List.of(OF_A_BUCKET), "DOWN"))
                .isEqualTo(new RateLimitHealth(
                        "UP", Map.of("limits", "shared", "failures", List.of(described(OF_A_BUCKET)))));
    }

    @Test
    void troublesOfBothKindsAreDescribed() {
        assertThat(RateLimitHealth.of(List.of(OF_STORE, OF_A_BUCKET), "DOWN"))
                .isEqualTo(new RateLimitHealth(
                        "DOWN",
                        Map.of(
                                "limits",
                                "on-store-failure",
                                "failures",
                                List.of(described(OF_STORE), described(OF_A_BUCKET)))));
    }

    @Test
    void whatMattersMostIsReadFirst() {
        assertThat(RateLimitHealth.of(List.of(OF_STORE), "UP").details())
                .hasToString("{limits=on-store-failure, failures=[{reason=timeout, error=Redis: no answer in time,"
                        + " since=2026-11-07T03:00:00.123456Z, calls=123}]}");
    }

    @Test
    void latestReasonIsBesideTheFirst() {
        StoreFailure.Latest latest = new StoreFailure.Latest(Reason.UNREACHABLE, "Redis: not connected");
        StoreFailure failure = new StoreFailure(
                OF_STORE.reason(), OF_STORE.message(), OF_STORE.since(), OF_STORE.calls(), latest, null);
        assertThat(RateLimitHealth.of(List.of(failure), "UP").details().get("failures"))
                .hasToString("[{reason=timeout, error=Redis: no answer in time, latestReason=unreachable,"
                        + " latestError=Redis: not connected, since=2026-11-07T03:00:00.123456Z, calls=123}]");
    }

    private static Map<String, Object> described(StoreFailure trouble) {
        return Map.of(
                "reason",
                trouble.reason().name().toLowerCase(Locale.ROOT),
                "error",
                trouble.message(),
                "since",
                trouble.since().toString(),
                "calls",
                trouble.calls());
    }
}
