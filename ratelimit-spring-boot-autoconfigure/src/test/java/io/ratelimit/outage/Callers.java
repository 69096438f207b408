package io.ratelimit.outage;

import io.ratelimit.RateLimitDecision;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/** Threads that call the limits of an instance again and again, with one key after the other, in turns with and without blocking. */
final class Callers implements AutoCloseable {

    private static final int THREADS = 4;

    private static final int PAUSE_MICROS = 500;

    private static final int PATIENCE_SECONDS = 70;

    private final Instance instance;

    private final Ledger ledger;

    private final List<String> keys = new CopyOnWriteArrayList<>();

    private final ScheduledExecutorService threads = Executors.newScheduledThreadPool(THREADS);

    Callers(Instance instance, Ledger ledger) {
        this.instance = instance;
        this.ledger = ledger;
    }

    @SuppressWarnings("FutureReturnValueIgnored") // It ends with the threads.
    void start(Collection<String> first) {
        keys.addAll(first);
        for (int i = 0; i < THREADS; i++) {
            threads.scheduleWithFixedDelay(new Caller(i), 0, PAUSE_MICROS, TimeUnit.MICROSECONDS);
        }
    }

    void use(Collection<String> more) {
        keys.addAll(more);
    }

    /** Returns when no call is under way. */
    @Override
    public void close() {
        threads.shutdown();
        try {
            if (!threads.awaitTermination(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
                ledger.failed(new IllegalStateException("A call does not return"));
                threads.shutdownNow();
            }
        } catch (InterruptedException ex) {
            Thread.currentThread().interrupt();
        }
    }

    private final class Caller implements Runnable {

        private int turn;

        Caller(int number) {
            this.turn = number;
        }

        @Override
        public void run() {
            List<CompletableFuture<RateLimitDecision>> underWay = new ArrayList<>();
            try {
                for (int i = 0; i < 2; i++) {
                    String key = keys.get(++turn % keys.size());
                    underWay.add(callAsync(Instance.SMALL, key));
                    underWay.add(callAsync(Instance.AMPLE, key));
                }
                String key = keys.get(++turn % keys.size());
                call(Instance.SMALL, key);
                call(Instance.AMPLE, key);
                for (CompletableFuture<RateLimitDecision> call : underWay) {
                    call.get(PATIENCE_SECONDS, TimeUnit.SECONDS);
                }
            } catch (Exception ex) {
                ledger.failed(ex);
            }
        }

        private void call(String limit, String key) {
            ledger.calling(limit, key);
            long start = System.nanoTime();
            RateLimitDecision decision = instance.limiter(limit).tryAcquire(key);
            ledger.decided(limit, key, decision, System.nanoTime() - start);
        }

        private CompletableFuture<RateLimitDecision> callAsync(String limit, String key) {
            ledger.calling(limit, key);
            long start = System.nanoTime();
            return instance.limiter(limit)
                    .tryAcquireAsync(key, 1)
                    .whenComplete((decision, thrown) -> {
                        if (thrown == null) {
                            ledger.decided(limit, key, decision, System.nanoTime() - start);
                        }
                    })
                    .toCompletableFuture();
        }
    }
}
