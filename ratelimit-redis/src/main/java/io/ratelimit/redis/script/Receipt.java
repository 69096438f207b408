package io.ratelimit.redis.script;

/**
 * Records the state of a rule right after a charge, with which the script refunds the charge.
 *
 * @param time of the charge; of a lease, the time until which it marks the bucket
 */
public record Receipt(long used, long since, long rest, long time) {

    /** The receipt of a charge that took nothing. */
    public static final Receipt NONE = new Receipt(0, 0, 0, 0);

    /** Returns the receipt after a refund of some of the permits. */
    public Receipt without(long permits) {
        return new Receipt(used - permits, since, rest, time);
    }
}
