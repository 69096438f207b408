package com.acme;

import io.ratelimit.RateLimitExceededException;
import io.ratelimit.annotation.RateLimited;
import java.util.concurrent.CompletableFuture;
import org.springframework.scheduling.annotation.Async;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.stereotype.Component;
import reactor.core.publisher.Mono;

/** The suite reads what they print. */
@Component
public class Tasks {

    @Async
    @RateLimited(name = "async", rate = "1/d")
    public void async() {
        System.out.println("async runs in " + Thread.currentThread().getName());
    }

    @Async
    @RateLimited(name = "async-future", rate = "1/d")
    public CompletableFuture<String> asyncFuture() {
        return CompletableFuture.completedFuture("42");
    }

    @Scheduled(fixedDelay = 300)
    @RateLimited(name = "scheduled", rate = "1/d")
    public void scheduled() {
        System.out.println("scheduled runs");
    }

    @Scheduled(fixedDelay = 300)
    @RateLimited(name = "scheduled-mono", rate = "1/d")
    public Mono<Void> scheduledMono() {
        return Mono.fromRunnable(() -> System.out.println("scheduled-mono runs"));
    }

    @Scheduled(fixedDelay = 300)
    @RateLimited(name = "scheduled-fallback", rate = "1/d", fallbackMethod = "skip")
    public void scheduledWithFallback() {
        System.out.println("scheduled-fallback runs");
    }

    void skip(RateLimitExceededException rejection) {
        System.out.println("scheduled-fallback is skipped");
    }

    @Scheduled(fixedDelay = 1)
    @RateLimited(name = "scheduled-waiting", capacity = 1, rate = "10/s", maxWait = "1m")
    public void scheduledWaiting() {
        System.out.println("scheduled-waiting runs");
    }
}
