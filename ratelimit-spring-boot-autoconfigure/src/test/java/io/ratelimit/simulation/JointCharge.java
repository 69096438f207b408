package io.ratelimit.simulation;

import io.ratelimit.spi.Charge;

/** What one call takes from one bucket, as far as the call has told. */
final class JointCharge {

    final JointCall call;

    final JointLimit limit;

    final Charge charge;

    /** By which the call is decided. */
    final Numbers numbers;

    /** Whether the limit alone would admit the call. */
    boolean allowed;

    /** Whether the permits are taken when the call has been decided: all that the call may ever take. */
    boolean taken;

    /** When the permits begin to come back: the call has ended, or its charge is refunded. */
    long ended = Long.MAX_VALUE;

    JointCharge(JointCall call, JointLimit limit, Charge charge) {
        this.call = call;
        this.limit = limit;
        this.charge = charge;
        this.numbers = SimulatedInstance.numbers(charge.limit());
    }

    long permits() {
        return charge.permits();
    }

    boolean isHeld() {
        return limit.kind == JointLimit.Kind.HELD;
    }

    boolean isDryRun() {
        return numbers.dryRun();
    }

    /** Returns whether the limit rejects the call. */
    boolean rejects() {
        return call.isDecided() && !allowed && !isDryRun();
    }

    /** Returns whether the call is a violation if it lacks permits: also one that has not told what the limit has decided. */
    boolean mayBlock() {
        return (rejects() || !call.isDecided())
                && !isDryRun()
                && !numbers.blockFor().isEmpty()
                && permits() <= numbers.capacity();
    }

    boolean waits() {
        return isHeld() && !isDryRun() && numbers.maxWait() > 0;
    }

    String describe() {
        return "  #" + call.number + (isDryRun() ? " in dry run" : "") + (allowed ? " allowed" : " not allowed")
                + (taken ? " takes " : " does not take ") + permits() + ", from " + call.sent + " to " + call.decided
                + (ended == Long.MAX_VALUE ? "" : ", until " + ended);
    }

    @Override
    public String toString() {
        return permits() + " of " + limit.name + " " + charge.key()
                + (charge.limit().plan() == null ? "" : "/" + charge.limit().plan());
    }
}
