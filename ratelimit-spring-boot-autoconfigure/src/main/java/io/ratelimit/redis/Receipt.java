package io.ratelimit.redis;

/** What a charge's section was right after it: what the script wants in order to undo the charge. */
record Receipt(long used, long since, long rest) {

    /** Once so many of the charge's permits are given back. */
    Receipt without(long permits) {
        return new Receipt(used - permits, since, rest);
    }
}
