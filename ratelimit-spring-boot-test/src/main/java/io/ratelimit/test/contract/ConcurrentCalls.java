package io.ratelimit.test.contract;

import io.ratelimit.spi.Charge;
import io.ratelimit.spi.RateLimitStore;
import io.ratelimit.spi.StoreRequest;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

/** Has several threads make the same call while the clock stands still. */
final class ConcurrentCalls {

    private static final int THREADS = 6;

    private final List<Charge> charges;

    private final int eachThread;

    /** @param charges of each call; every other thread names them in the reverse order */
    ConcurrentCalls(List<Charge> charges) {
        this.charges = charges;
        this.eachThread = (int) charges.get(0).limit().capacity() / 3;
    }

    /** Returns how many calls are admitted one after the other. */
    long admittedInTurns(RateLimitStore store) {
        long admitted = 0;
        for (int thread = 0; thread < THREADS; thread++) {
            admitted += admitted(store, charges);
        }
        return admitted;
    }

    /** Returns how many calls are admitted at once. */
    long admittedTogether(RateLimitStore store) {
        List<Charge> reverse = new ArrayList<>(charges);
        Collections.reverse(reverse);
        List<Callable<Long>> threads = new ArrayList<>();
        for (int thread = 0; thread < THREADS; thread++) {
            List<Charge> order = thread % 2 == 0 ? charges : reverse;
            threads.add(() -> admitted(store, order));
        }
        ExecutorService executor = Executors.newFixedThreadPool(THREADS);
        try {
            long admitted = 0;
            for (Future<Long> thread : executor.invokeAll(threads, 1, TimeUnit.MINUTES)) {
                admitted += thread.get();
            }
            return admitted;
        } catch (ExecutionException ex) {
            throw new AssertionError("Concurrent calls must not fail: " + ex.getCause(), ex);
        } catch (InterruptedException ex) {
            Thread.currentThread().interrupt();
            throw new AssertionError("Interrupted", ex);
        } finally {
            executor.shutdownNow();
        }
    }

    private long admitted(RateLimitStore store, List<Charge> order) {
        long admitted = 0;
        for (int call = 0; call < eachThread; call++) {
            admitted += store.decide(StoreRequest.of(order)).await().isRejected() ? 0 : 1;
        }
        return admitted;
    }
}
