package io.ratelimit.testing;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.IntFunction;

/** Many threads that start together, each calling again and again. */
public final class ParallelCalls {

    private ParallelCalls() {}

    /**
     * Counts the calls that were allowed.
     *
     * @param calls for each thread, by its number, what it calls
     */
    public static long countAllowed(int threads, int callsOfEach, IntFunction<Callable<Boolean>> calls)
            throws Exception {
        ExecutorService executor = Executors.newFixedThreadPool(threads);
        try {
            CountDownLatch start = new CountDownLatch(threads);
            List<Future<Long>> counts = new ArrayList<>();
            for (int thread = 0; thread < threads; thread++) {
                Callable<Boolean> call = calls.apply(thread);
                counts.add(executor.submit(() -> {
                    start.countDown();
                    start.await();
                    long allowed = 0;
                    for (int i = 0; i < callsOfEach; i++) {
                        allowed += call.call() ? 1 : 0;
                    }
                    return allowed;
                }));
            }
            long allowed = 0;
            for (Future<Long> count : counts) {
                allowed += count.get();
            }
            return allowed;
        } finally {
            executor.shutdownNow();
        }
    }
}
