package io.ratelimit.redis.script;

import io.ratelimit.internal.concurrent.Futures;
import io.ratelimit.spi.Charge;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;

/**
 * Sends calls again if the server's time is not in the calendar windows that the script was told of. That happens to the first
 * call of a limit, and then about once in two windows: this JVM's clock is not asked.
 */
public record CalendarCalls(ScriptCodec codec) {

    /** More than one is needed if windows of several limits are unknown, or if a bucket's time is ahead of the clock. */
    private static final int ATTEMPTS = 4;

    public <T> CompletableFuture<T> complete(List<Charge> charges, Supplier<CompletableFuture<T>> call) {
        return haveWindows(charges) ? complete(charges, call, ATTEMPTS) : call.get();
    }

    private <T> CompletableFuture<T> complete(List<Charge> charges, Supplier<CompletableFuture<T>> call, int attempts) {
        return call.get().exceptionallyCompose(thrown -> {
            if (attempts > 1 && Futures.unwrap(thrown) instanceof UnknownWindowException unknown) {
                codec.renewWindows(charges, unknown.micros());
                return complete(charges, call, attempts - 1);
            }
            return CompletableFuture.failedFuture(thrown);
        });
    }

    /** Returns whether a limit has windows. */
    private static boolean haveWindows(List<Charge> charges) {
        for (Charge charge : charges) {
            if (charge.limit().numbers().calendar() != null) {
                return true;
            }
        }
        return false;
    }
}
