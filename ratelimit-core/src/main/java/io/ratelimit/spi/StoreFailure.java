package io.ratelimit.spi;

import io.ratelimit.OnStoreFailure;
import io.ratelimit.RateLimitStoreException.Reason;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * Describes what prevents the store from deciding.
 *
 * @param reason the first one
 * @param message the store's at first; never contains a key
 * @param since when the first call was not decided, or a check found it before
 * @param calls how many calls {@link OnStoreFailure} has decided since then; costs charged after a call, and buckets that were
 *     looked up, do not count
 * @param latest what has prevented it most recently, if that has another reason; {@code null}: the first reason has it still
 * @param redis the name of the server that fails, if limits are in several; {@code null}: there is only one
 */
public record StoreFailure(
        Reason reason,
        String message,
        Instant since,
        long calls,
        @Nullable Latest latest,
        @Nullable String redis) {

    /**
     * Describes what the failure has become, such as a server that hangs, and then refuses connections.
     *
     * @param message the store's; never contains a key
     */
    public record Latest(Reason reason, String message) {}

    /** Describes what prevents the only store from deciding. */
    public StoreFailure(Reason reason, String message, Instant since, long calls) {
        this(reason, message, since, calls, null, null);
    }
}
