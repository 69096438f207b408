package io.ratelimit.store;

import io.ratelimit.OnStoreFailure;
import io.ratelimit.RateLimitStoreException.Reason;
import java.time.Instant;

/**
 * Describes what prevents the store from deciding.
 *
 * @param reason the latest one
 * @param message the store's; never contains a key
 * @param since when the first call was not decided
 * @param calls how many calls were not decided since then, so that {@link OnStoreFailure} applied
 */
public record StoreFailure(Reason reason, String message, Instant since, long calls) {}
