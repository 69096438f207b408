package io.ratelimit.redis.settlement;

import io.ratelimit.internal.limit.AlgorithmTraits.Trait;
import io.ratelimit.spi.Charge;
import java.util.concurrent.CompletableFuture;

/** The settlement of one charge, from when it is queued until Redis has made it or it is lost. */
final class QueuedSettlement {

    /** The largest weight of a script, which takes Redis less than a millisecond. */
    static final int FULL = 64;

    /** A refund in a log searches its entries. */
    private static final int LOG_WEIGHT = 16;

    /** More than one is needed if a bucket's time is ahead of the clock. */
    private static final int ATTEMPTS = 4;

    private final Charge charge;

    private final long permits;

    private final byte[] name;

    private final byte[] amount;

    private final long since;

    private final CompletableFuture<Void> done = new CompletableFuture<>();

    private int attempts = 1;

    private boolean alone;

    /**
     * @param charge what is charged, or what was
     * @param permits how many are charged or refunded
     * @param name the key of the bucket
     * @param amount as the script reads it
     * @param since when it was queued
     */
    QueuedSettlement(Charge charge, long permits, byte[] name, byte[] amount, long since) {
        // Callers choose keys, and must not choose how much memory they take while settlements wait.
        this.charge = new Charge(charge.limit(), null, charge.permits());
        this.permits = permits;
        this.name = name;
        this.amount = amount;
        this.since = since;
    }

    /** Returns the charge without its key, which is that of the bucket. */
    Charge charge() {
        return charge;
    }

    long permits() {
        return permits;
    }

    byte[] name() {
        return name;
    }

    byte[] amount() {
        return amount;
    }

    long since() {
        return since;
    }

    /** Returns whether it charges permits, rather than refunding some. */
    boolean charges() {
        return amount[0] == '+';
    }

    /** Completes when Redis has made it, or fails when it is lost. */
    CompletableFuture<Void> done() {
        return done;
    }

    /** Ends it, because Redis has made it. */
    void made() {
        done.complete(null);
    }

    /** Ends it, because Redis has not made it, or may not have, and counts it. */
    void lost(Throwable failure, SettlementLosses losses) {
        losses.add(this, failure);
        done.completeExceptionally(failure);
    }

    /** Counts an attempt that has changed nothing. Returns whether there may be another. */
    boolean mayTryAgain() {
        return attempts++ < ATTEMPTS;
    }

    /** Has it sent in a script of its own. */
    void sendAlone() {
        alone = true;
    }

    int weight() {
        return alone ? FULL : charge.limit().numbers().traits().has(Trait.HAS_ENTRIES) ? LOG_WEIGHT : 1;
    }
}
