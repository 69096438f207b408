package io.ratelimit.redis;

/**
 * What a charge's section was right after it: what the script wants in order to undo the charge.
 *
 * @param time of the charge; of a lease, until when the bucket is marked with it
 */
record Receipt(long used, long since, long rest, long time) {

    /** Of a charge that has taken nothing. */
    static final Receipt NONE = new Receipt(0, 0, 0, 0);

    /** Once so many of the charge's permits are given back. */
    Receipt without(long permits) {
        return new Receipt(used - permits, since, rest, time);
    }
}
