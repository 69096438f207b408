package com.acme;

import io.ratelimit.Algorithm;
import io.ratelimit.annotation.RateLimited;
import java.io.IOException;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import org.springframework.stereotype.Service;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Two permits for each key, and none comes back while a test runs, unless the limit says otherwise. */
@Service
public class Quotes {

    private static final String RATE = "2/d";

    private final Map<String, CompletableFuture<String>> running = new ConcurrentHashMap<>();

    @RateLimited(name = "plain", rate = RATE, keyExpression = "#key")
    public String plain(String key) {
        return "plain";
    }

    /** By an algorithm of the application, which limits.yml names. */
    @RateLimited(name = "own-algorithm", rate = RATE, keyExpression = "#key")
    public String ownAlgorithm(String key) {
        return "own-algorithm";
    }

    @RateLimited(name = "future", rate = RATE, keyExpression = "#key")
    public CompletableFuture<String> future(String key) {
        return CompletableFuture.completedFuture("future");
    }

    @RateLimited(name = "mono", rate = RATE, keyExpression = "#key")
    public Mono<String> mono(String key) {
        return Mono.just("mono");
    }

    @RateLimited(name = "flux", rate = RATE, keyExpression = "#key")
    public Flux<String> flux(String key) {
        return Flux.just("fl", "ux");
    }

    @RateLimited(name = "burst", rate = RATE, keyExpression = "#key")
    @RateLimited(name = "daily", rate = "5/d", keyExpression = "#tenant")
    public Mono<String> several(String key, String tenant) {
        return Mono.just("several");
    }

    @RateLimited(name = "bean", rate = RATE, keyExpression = "@tenants.of(#key)")
    public String bean(String key) {
        return "bean";
    }

    @RateLimited(
            name = "cost",
            capacity = 10,
            rate = "10/d",
            keyExpression = "#order.customer",
            permits = "#order.items",
            condition = "#order.items < 100")
    public String cost(Order order) {
        return "cost";
    }

    @RateLimited(name = "fallback", rate = RATE, keyExpression = "#key", fallbackMethod = "cached")
    public String fallback(String key) {
        return "fresh";
    }

    String cached(String key) {
        return "cached";
    }

    @RateLimited(name = "refund", rate = RATE, keyExpression = "#key", refundOn = IOException.class)
    public String refund(String key, boolean fail) throws IOException {
        if (fail) {
            throw new IOException("the method fails");
        }
        return "refund";
    }

    @RateLimited(name = "block", rate = "2/2s", keyExpression = "#key", blockFor = "1h, 10h")
    public String block(String key) {
        return "block";
    }

    /** The rate is in limits.yml, and the suite changes it while the application runs. */
    @RateLimited(name = "changed", keyExpression = "#key")
    public String changed(String key) {
        return "changed";
    }

    @RateLimited(name = "wait", capacity = 1, rate = "4/s", keyExpression = "#key", maxWait = "5s")
    public String await(String key) {
        return "wait";
    }

    /** Runs until {@link #end}. */
    @RateLimited(
            name = "hold",
            algorithm = Algorithm.CONCURRENCY,
            capacity = 1,
            keyExpression = "#key",
            maxWait = "60s")
    public CompletableFuture<String> hold(String key) {
        return running.computeIfAbsent(key, absent -> new CompletableFuture<>());
    }

    /** Returns how many calls it has ended. */
    int end(String key) {
        CompletableFuture<String> call = running.remove(key);
        return call != null && call.complete("hold") ? 1 : 0;
    }

    @RateLimited(name = "token-bucket", algorithm = Algorithm.TOKEN_BUCKET, rate = RATE, keyExpression = "#key")
    public String tokenBucket(String key) {
        return "token-bucket";
    }

    @RateLimited(
            name = "leaky-bucket",
            algorithm = Algorithm.LEAKY_BUCKET,
            capacity = 1,
            rate = "1/d",
            keyExpression = "#key")
    public String leakyBucket(String key) {
        return "leaky-bucket";
    }

    @RateLimited(name = "fixed-window", algorithm = Algorithm.FIXED_WINDOW, rate = RATE, keyExpression = "#key")
    public String fixedWindow(String key) {
        return "fixed-window";
    }

    @RateLimited(name = "sliding-window", algorithm = Algorithm.SLIDING_WINDOW, rate = RATE, keyExpression = "#key")
    public String slidingWindow(String key) {
        return "sliding-window";
    }

    @RateLimited(
            name = "sliding-window-log",
            algorithm = Algorithm.SLIDING_WINDOW_LOG,
            rate = RATE,
            keyExpression = "#key")
    public String slidingWindowLog(String key) {
        return "sliding-window-log";
    }

    /** A type that only an expression of a limit reads. */
    public record Order(String customer, int items) {}
}
