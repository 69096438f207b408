package io.ratelimit.architecture.breach;

import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;

/** Every wait has a deadline. */
public class WaitsWithoutDeadline {

    Supplier<?> byReference = new CompletableFuture<>()::join;

    void byCall() throws InterruptedException {
        Thread.currentThread().join();
    }
}
