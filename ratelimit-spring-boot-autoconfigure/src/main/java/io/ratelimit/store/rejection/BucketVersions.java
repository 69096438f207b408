package io.ratelimit.store.rejection;

import io.ratelimit.Charge;
import io.ratelimit.RateLimit;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicLongArray;
import org.jspecify.annotations.Nullable;

/** Tells whether permits have been given to a bucket: its stamp is another then. Buckets may share one. */
final class BucketVersions {

    private static final int STAMPS = 1 << 10;

    private final AtomicLongArray stamps = new AtomicLongArray(STAMPS);

    /** Of one bucket. */
    long of(Charge charge) {
        return stamps.get(index(charge.limit(), charge.key()));
    }

    /** Of all the call's buckets. Stamps only grow: their sum is the same if each is. */
    long of(List<Charge> charges) {
        long sum = 0;
        for (Charge charge : charges) {
            sum += of(charge);
        }
        return sum;
    }

    /** Permits were given to a bucket. */
    void change(RateLimit limit, @Nullable String key) {
        stamps.incrementAndGet(index(limit, key));
    }

    private static int index(RateLimit limit, @Nullable String key) {
        return hash(limit, key) & (STAMPS - 1);
    }

    static int hash(RateLimit limit, @Nullable String key) {
        int hash = 31 * limit.hashCode() + Objects.hashCode(key);
        return hash ^ (hash >>> 16);
    }
}
