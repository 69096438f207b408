package io.ratelimit.store;

import io.ratelimit.OnStoreFailure;
import io.ratelimit.RateLimitStoreException.Reason;
import java.time.Instant;

/**
 * What keeps the store from deciding.
 *
 * @param reason the latest one
 * @param message what the store said; never a key
 * @param since the first call that was not decided
 * @param calls that were not decided since, and went by {@link OnStoreFailure}
 */
public record StoreFailure(Reason reason, String message, Instant since, long calls) {}
