package io.ratelimit.simulation;

import java.util.Set;

/** What one call takes from one bucket. */
final class Take {

    final BucketBounds bucket;

    final Numbers numbers;

    final long permits;

    final String instance;

    final long sent;

    private final int grants;

    /** How many calls of the bucket were sent before this one. */
    final long number;

    boolean flying = true;

    boolean taken;

    /** The limit of the bucket has rejected the call, so that nothing was charged. */
    boolean rejected;

    /** The call that holds the permits has ended. */
    boolean ended;

    /** The store may have lost the permits. */
    boolean mayBeLost;

    /** By how much the store's clock was set back while the call held permits. */
    long setBack;

    /** Those on their way to the same bucket when this one was sent. */
    final Set<Take> beside;

    Take(BucketBounds bucket, Numbers numbers, long permits, String instance, long sent) {
        this.bucket = bucket;
        this.numbers = numbers;
        this.permits = permits;
        this.instance = instance;
        this.sent = sent;
        this.grants = bucket.grants;
        this.number = bucket.calls++;
        this.beside = Set.copyOf(bucket.flying);
    }

    /** Returns what counted as taken when this one was decided, perhaps, and was not taken in the end. */
    long provisional() {
        return beside.stream()
                .filter(other -> !other.flying && !other.taken)
                .mapToLong(other -> other.permits)
                .sum();
    }

    /** Returns whether the bucket may have been reset, or permits of it granted, after this one was decided. */
    boolean mayBeForgotten() {
        return sent <= bucket.forgottenAt || grants != bucket.grants;
    }

    /** Returns whether a renewal counts the permits again, also after a reset: the store does not know that it was theirs. */
    boolean isCountedAgain() {
        return mayBeLost && !ended;
    }

    String bucket() {
        return bucket.name;
    }

    boolean isShared() {
        return bucket.name.startsWith("shared") && !isLocal();
    }

    Numbers rule() {
        return numbers;
    }

    /** Returns whether an instance decides alone, because the store has failed. */
    boolean isLocal() {
        return bucket.name.contains(" local ");
    }

    long permits() {
        return permits;
    }

    long hold() {
        return numbers.hold();
    }

    @Override
    public String toString() {
        return permits + " of " + bucket.name;
    }
}
