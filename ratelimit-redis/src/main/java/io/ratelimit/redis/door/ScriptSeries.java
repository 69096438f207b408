package io.ratelimit.redis.door;

import io.ratelimit.internal.concurrent.Futures;
import java.util.Collection;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Function;
import java.util.stream.Stream;

/** Sends scripts in the background, some at a time. */
public final class ScriptSeries {

    private ScriptSeries() {}

    /**
     * Sends the scripts.
     *
     * @param most how many are under way at a time
     * @param afterFailures whether the others are sent if one fails
     * @return fails if one of them fails
     */
    public static <T> CompletableFuture<Void> send(
            Collection<T> scripts, int most, boolean afterFailures, Function<T, CompletableFuture<Void>> send) {
        Queue<T> waiting = new ConcurrentLinkedQueue<>(scripts);
        return CompletableFuture.allOf(Stream.generate(() -> sendNext(waiting, afterFailures, send))
                .limit(Math.min(most, scripts.size()))
                .toArray(CompletableFuture[]::new));
    }

    /** Sends one after the other. Does not call itself for those that are done at once: there may be thousands. */
    private static <T> CompletableFuture<Void> sendNext(
            Queue<T> waiting, boolean afterFailures, Function<T, CompletableFuture<Void>> send) {
        CompletableFuture<Void> failed = CompletableFuture.completedFuture(null);
        for (T next = waiting.poll(); next != null; next = waiting.poll()) {
            T script = next;
            CompletableFuture<Void> before = failed;
            CompletableFuture<Void> sent = Futures.start(() -> send.apply(script));
            if (!sent.isDone()) {
                return sent.exceptionallyCompose(thrown -> afterFailures
                                ? CompletableFuture.completedFuture(null)
                                : CompletableFuture.failedFuture(thrown))
                        .thenCompose(done -> sendNext(waiting, afterFailures, send))
                        .thenCompose(others -> CompletableFuture.allOf(before, sent));
            }
            if (sent.isCompletedExceptionally()) {
                failed = sent;
                if (!afterFailures) {
                    break;
                }
            }
        }
        return failed;
    }
}
