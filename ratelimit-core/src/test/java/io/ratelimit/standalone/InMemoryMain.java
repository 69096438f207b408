package io.ratelimit.standalone;

import io.ratelimit.RateLimit;
import io.ratelimit.RateLimiter;

/** A program that has nothing but the core. */
public final class InMemoryMain {

    public static void main(String[] args) {
        RateLimiter quotes = RateLimiters.inMemory(
                        RateLimit.named("quotes").capacity(2).rate("2/m").build())
                .get("quotes");
        for (int i = 0; i < 3; i++) {
            System.out.println(quotes.tryAcquire("alice").allowed());
        }
    }
}
