package io.ratelimit.benchmarks.results;

import java.util.Locale;

/** The sections of the results, in their order. */
public enum Section {
    ANNOTATED(
            "Annotated calls in memory",
            "Time for a call, in multiples of an interceptor that does nothing: less is better."),
    MEMORY(
            "Decisions in memory",
            "Time for a decision, in multiples of a map, a clock reading and an atomic add: less is better."),
    REDIS("Decisions in Redis", "Calls in the same time, in multiples of a bare `EVALSHA`: more is better."),
    REJECTED(
            "Rejected again and again, in Redis",
            "The same caller calls on. Calls in the same time, in multiples of a bare `EVALSHA`: more is better."),
    LEASES(
            "Leases of 100 permits, in Redis",
            "Calls in the same time, in multiples of a bare `EVALSHA`: more is better. Delaying Bucket4j admits more than the"
                    + " limit."),
    CLUSTER(
            "Redis Cluster of three masters",
            "Calls in the same time, in multiples of a bare `EVALSHA` on the cluster: more is better."),
    SIZES(
            "Sizes: a server, and three masters",
            "1,000,000 users of a token bucket, one drawn for each call, 32 threads; first all in one Redis, then in a"
                    + " Cluster of three masters, each on its own. Client and servers share the cores, so decisions a second are what"
                    + " is left for Redis. *A whole core* is computed from the CPU time of a decision."),
    FAR(
            "Redis far away",
            "By round-trip time. Calls in the same time, in multiples of a bare `EVALSHA` over the same distance:"
                    + " more is better."),
    BYTES("Bytes", "Less is better."),
    GROWTH(
            "Many keys, many methods",
            "Time for a decision, in multiples of one over a single key; time of a start-up in milliseconds: less is better.");

    private final String title;

    private final String explanation;

    Section(String title, String explanation) {
        this.title = title;
        this.explanation = explanation;
    }

    String title() {
        return title;
    }

    /** What the numbers are, and which way is better. */
    String explanation() {
        return explanation;
    }

    /** As {@code --only} takes it. */
    public String option() {
        return name().toLowerCase(Locale.ROOT);
    }
}
