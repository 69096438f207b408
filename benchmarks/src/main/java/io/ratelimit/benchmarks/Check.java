package io.ratelimit.benchmarks;

import io.ratelimit.benchmarks.race.Contestant;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.openjdk.jmh.infra.Blackhole;

/** Whether a contestant really does what the line says: else there is nothing to compare. */
final class Check {

    /** Some to use a bucket up, and some for a Redis that a busy machine answers too late from. */
    private static final int ATTEMPTS = 20;

    private Check() {}

    /** @throws IllegalStateException if it never says so */
    static void that(Contestant contestant, boolean allowed, String key, Blackhole sink) {
        @Nullable RuntimeException last = null;
        for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
            try {
                if (contestant.call(key, sink) == allowed) {
                    return;
                }
            } catch (RuntimeException ex) {
                last = ex;
                pause();
            }
        }
        throw new IllegalStateException(
                contestant.name() + " does not say of a call that it is " + (allowed ? "allowed" : "rejected"), last);
    }

    private static void pause() {
        try {
            TimeUnit.MILLISECONDS.sleep(100);
        } catch (InterruptedException ex) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("Interrupted", ex);
        }
    }
}
