package io.ratelimit.testing;

import io.ratelimit.Algorithm;
import io.ratelimit.RateLimit;
import io.ratelimit.Refill;
import java.time.Duration;

/** What a limit can be, as far as its arithmetic goes. */
public enum LimitKind {
    TOKEN_BUCKET(Algorithm.TOKEN_BUCKET),
    TOKEN_BUCKET_WITH_WAIT(Algorithm.TOKEN_BUCKET),
    TOKEN_BUCKET_BY_INTERVALS(Algorithm.TOKEN_BUCKET),
    LEAKY_BUCKET(Algorithm.LEAKY_BUCKET),
    LEAKY_BUCKET_WITH_WAIT(Algorithm.LEAKY_BUCKET),
    FIXED_WINDOW(Algorithm.FIXED_WINDOW),
    SLIDING_WINDOW(Algorithm.SLIDING_WINDOW),
    SLIDING_WINDOW_LOG(Algorithm.SLIDING_WINDOW_LOG);

    private final Algorithm algorithm;

    LimitKind(Algorithm algorithm) {
        this.algorithm = algorithm;
    }

    public Algorithm algorithm() {
        return algorithm;
    }

    public Refill refill() {
        return this == TOKEN_BUCKET_BY_INTERVALS ? Refill.INTERVAL : Refill.CONTINUOUS;
    }

    /** Whether its permits are reserved ahead. */
    public boolean waits() {
        return this == TOKEN_BUCKET_WITH_WAIT || this == LEAKY_BUCKET_WITH_WAIT;
    }

    /** Whether calls go on one after the other. */
    public boolean spaces() {
        return this == LEAKY_BUCKET || this == LEAKY_BUCKET_WITH_WAIT;
    }

    /** Of a kind that waits, one that waits for a second. */
    public RateLimit limit(String name, long capacity, String rate) {
        return limit(name, capacity, rate, waits() ? Duration.ofSeconds(1) : Duration.ZERO);
    }

    public RateLimit limit(String name, long capacity, String rate, Duration maxWait) {
        return RateLimit.named(name)
                .algorithm(algorithm)
                .refill(refill())
                .capacity(capacity)
                .rate(rate)
                .maxWait(maxWait)
                .build();
    }
}
