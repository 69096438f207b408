package io.ratelimit.redis;

import io.ratelimit.Charge;
import org.jspecify.annotations.Nullable;

/** Describes a call of this instance that holds permits of a bucket in Redis, and when Redis has counted them last. */
final class PermitHolder {

    private final Place place;

    private final Charge charge;

    private final byte[] name;

    /** When Redis has counted the permits last. */
    private volatile long renewed;

    private volatile boolean released;

    /** Identifies it. */
    record Place(long holder, String limit, @Nullable String key) {

        static Place of(long holder, Charge charge) {
            return new Place(holder, charge.limit().id(), charge.key());
        }
    }

    /**
     * @param name of the bucket in Redis
     * @param now when Redis has counted the permits
     */
    PermitHolder(Place place, Charge charge, byte[] name, long now) {
        this.place = place;
        this.charge = charge;
        this.name = name;
        this.renewed = now;
    }

    Place place() {
        return place;
    }

    long holder() {
        return place.holder;
    }

    Charge charge() {
        return charge;
    }

    /** Returns the name of the bucket in Redis. */
    byte[] name() {
        return name;
    }

    boolean isReleased() {
        return released;
    }

    void release() {
        released = true;
    }

    void renew(long now) {
        renewed = now;
    }

    boolean wasRenewedSince(long time) {
        return renewed - time >= 0;
    }

    boolean hasExpired(long now) {
        return now - renewed > charge.limit().hold().toNanos();
    }
}
