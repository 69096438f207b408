package io.ratelimit.benchmarks;

import io.ratelimit.annotation.RateLimited;

/** Methods that do next to nothing, so that what is measured is what surrounds them. */
public class Quotes {

    /** More than a run can use up. */
    private static final long PLENTY = 1_000_000_000;

    public String bare(String user) {
        return user;
    }

    @RateLimited(name = "per-user", capacity = PLENTY, rate = "100000/s", keyExpression = "#user")
    public String perUser(String user) {
        return user;
    }

    @RateLimited(name = "for-all", capacity = PLENTY, rate = "100000/s")
    public String forAll(String user) {
        return user;
    }

    @RateLimited(name = "exhausted", capacity = 1, rate = "1/d", keyExpression = "#user")
    public String exhausted(String user) {
        return user;
    }
}
