package io.ratelimit.benchmarks.memory;

/** A method that does next to nothing, so that what is measured is what surrounds it. */
public class Quotes {

    public String quote(String user) {
        return user;
    }
}
