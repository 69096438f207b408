package io.ratelimit.architecture.breach;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

class UsesTheTimerOfTheJdk {

    CompletableFuture<Object> reply() {
        return new CompletableFuture<>().orTimeout(1, TimeUnit.SECONDS);
    }
}
