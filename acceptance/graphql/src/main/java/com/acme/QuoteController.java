package com.acme;

import io.ratelimit.Algorithm;
import io.ratelimit.annotation.RateLimited;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.springframework.graphql.data.method.annotation.Argument;
import org.springframework.graphql.data.method.annotation.MutationMapping;
import org.springframework.graphql.data.method.annotation.QueryMapping;
import org.springframework.stereotype.Controller;

@Controller
public class QuoteController {

    private static final Queue<CompletableFuture<String>> HELD = new ConcurrentLinkedQueue<>();

    @QueryMapping
    @RateLimited(name = "quotes", rate = "1/d", keyExpression = "#user")
    public String quote(@Argument String user) {
        return "42";
    }

    @QueryMapping
    public String other() {
        return "43";
    }

    /** Ends when the suite says so. */
    @QueryMapping
    @RateLimited(name = "held", algorithm = Algorithm.CONCURRENCY, capacity = 1)
    public CompletableFuture<String> held() {
        CompletableFuture<String> held = new CompletableFuture<>();
        HELD.add(held);
        return held;
    }

    @QueryMapping
    public int holding() {
        return HELD.size();
    }

    @MutationMapping
    public boolean release() {
        CompletableFuture<String> held = HELD.poll();
        return held != null && held.complete("42");
    }
}
