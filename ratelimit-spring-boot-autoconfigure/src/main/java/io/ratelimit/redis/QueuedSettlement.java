package io.ratelimit.redis;

import io.ratelimit.AlgorithmTraits;
import io.ratelimit.Charge;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;

/** The settlement of one charge that waits for a script, or is under way. */
final class QueuedSettlement {

    /** The largest weight of a script, which takes Redis less than a millisecond. */
    static final int FULL = 64;

    /** A refund in a log searches its entries. */
    private static final int LOG_WEIGHT = 16;

    /** More than one is needed if a bucket's time is ahead of the clock. */
    private static final int ATTEMPTS = 4;

    private final Charge charge;

    private final byte[] name;

    private final byte[] amount;

    private final long since;

    private final boolean kept;

    private final CompletableFuture<Void> done = new CompletableFuture<>();

    private final AtomicInteger attempts = new AtomicInteger(1);

    private volatile boolean alone;

    /**
     * @param charge what is charged, or what was
     * @param name the key of the bucket
     * @param amount as the script reads it
     * @param since when the call was over
     * @param kept whether it is made later if Redis fails; if not, the caller may charge again
     */
    QueuedSettlement(Charge charge, byte[] name, byte[] amount, long since, boolean kept) {
        // Callers choose keys, and must not choose how much memory they take while Redis fails.
        this.charge = new Charge(charge.limit(), null, charge.permits());
        this.name = name;
        this.amount = amount;
        this.since = since;
        this.kept = kept;
    }

    /** Creates one that charges permits. */
    static QueuedSettlement charging(Charge charge, byte[] name, long since, boolean kept) {
        return new QueuedSettlement(charge, name, ScriptCodec.forced(charge), since, kept);
    }

    /** Returns the charge without its key, which is that of the bucket. */
    Charge charge() {
        return charge;
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

    boolean isKept() {
        return kept;
    }

    /** Returns whether it charges permits, rather than refunding some. */
    boolean charges() {
        return amount[0] == '+';
    }

    /** Completes when Redis has made it, or fails if that is not known by then. */
    CompletableFuture<Void> done() {
        return done;
    }

    /** Counts an attempt that has changed nothing. Returns whether there may be another. */
    boolean mayTryAgain() {
        return attempts.getAndIncrement() < ATTEMPTS;
    }

    /** Has it sent in a script of its own. */
    void sendAlone() {
        alone = true;
    }

    int weight() {
        return alone ? FULL : AlgorithmTraits.of(charge.limit()).hasEntries() ? LOG_WEIGHT : 1;
    }
}
