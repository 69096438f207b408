package io.ratelimit;

/** Is told of every decision. What it throws is its own affair: it never changes a decision. */
public interface RateLimitListener {

    /** What a call's decision came to. */
    enum Outcome {
        ALLOWED,
        REJECTED,

        /** Would have been rejected, but the limit is in {@linkplain RateLimit#dryRun() dry run}. */
        DRY_RUN_REJECTED
    }

    /** The application has started, and has this limit. Called once for each. */
    default void onLimit(RateLimit limit) {}

    /** A limit has decided about a call. */
    void onDecision(Charge charge, RateLimitDecision decision, Outcome outcome);
}
