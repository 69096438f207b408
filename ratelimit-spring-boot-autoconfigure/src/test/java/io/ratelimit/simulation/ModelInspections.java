package io.ratelimit.simulation;

import java.util.Set;

/** What may be seen of the buckets of a model, and of what applies. */
@SuppressWarnings({"LongDoubleConversion", "OperatorPrecedence", "AnnotateFormatMethod"}) // Small numbers.
final class ModelInspections {

    private final ModelBuckets all;

    ModelInspections(ModelBuckets all) {
        this.all = all;
    }

    /** What is left in a bucket, as the store says. */
    void remaining(String name, Numbers numbers, long remaining) {
        BucketBounds bucket = all.bucket(name);
        bucket.pass(all.now());
        double least = Math.min(numbers.capacity(), bucket.leastUsed(numbers));
        // A call under way is charged when the store decides it, which may be now.
        double most = bucket.mostUsed(numbers)
                + bucket.flying.stream().mapToLong(take -> take.permits).sum();
        if (Set.of(Numbers.Kind.EVEN, Numbers.Kind.LOG, Numbers.Kind.CONCURRENCY)
                .contains(numbers.kind())) {
            all.check(
                    remaining <= numbers.capacity() - least + 1 + Model.ROUNDING,
                    "what was taken is gone: %d left in %s, at least %.3f are taken, %s",
                    remaining,
                    name,
                    least,
                    numbers);
        }
        all.check(
                remaining >= Math.floor(numbers.capacity() - most - 3 * numbers.lease() - Model.ROUNDING)
                        || remaining == 0 && most >= numbers.capacity()
                        || all.now() <= bucket.blocks.possiblyUntil()
                        || bucket.isDoubted,
                "something is taken that no call has: %d left in %s, at most %.3f are taken, %s",
                remaining,
                name,
                most,
                numbers);
    }

    /** What is owed by a bucket, as the store says: the time until it is full again. */
    void resetAfter(String name, Numbers numbers, long micros) {
        BucketBounds bucket = all.bucket(name);
        bucket.pass(all.now());
        if (numbers.kind() == Numbers.Kind.EVEN) {
            double least = bucket.leastUsed(numbers);
            all.check(
                    micros * numbers.rate() >= least - 1,
                    "a cost was neither settled nor counted as lost: %.3f are owed in %s, and at least %.3f should be, %s",
                    micros * numbers.rate(),
                    name,
                    least,
                    numbers);
        }
    }

    /** Checks that an instance applies what the contract says. */
    static void effective(String instance, String limit, Attributes expected, Attributes applied) {
        if (!expected.equals(applied)) {
            throw new AssertionError("%s: %s is %s instead of %s".formatted(instance, limit, applied, expected));
        }
    }
}
