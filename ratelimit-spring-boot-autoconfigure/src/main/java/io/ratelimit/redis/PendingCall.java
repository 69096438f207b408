package io.ratelimit.redis;

import io.ratelimit.Charge;
import io.ratelimit.RateLimitStoreException;
import io.ratelimit.RateLimitStoreException.Reason;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/**
 * A call that waits for its decision.
 *
 * @param more permits beyond those of a call that wants a lease
 * @param isWaitedFor whether a thread waits for it
 * @param reader makes of the script's reply what the caller wants to know
 */
record PendingCall<T>(
        ScriptCall call,
        List<Charge> charges,
        long more,
        List<byte[]> names,
        Deadline deadline,
        boolean isWaitedFor,
        Reader<T> reader,
        CompletableFuture<T> outcome)
        implements Asked {

    /** Understands one call's part of a reply. */
    @FunctionalInterface
    interface Reader<T> {

        T read(List<Long> reply, int from);
    }

    void answer(List<Long> reply, int from) {
        T answer;
        try {
            answer = reader.read(reply, from);
        } catch (RuntimeException ex) {
            fail(ex);
            return;
        }
        outcome.complete(answer);
    }

    /** Its time was up before it was its turn; nothing is charged. */
    void failUnasked() {
        fail(new RateLimitStoreException(Reason.TIMEOUT, "Not asked in time", null));
    }

    void fail(Throwable failure) {
        outcome.completeExceptionally(failure);
    }
}
