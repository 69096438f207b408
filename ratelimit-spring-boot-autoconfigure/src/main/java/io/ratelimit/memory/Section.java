package io.ratelimit.memory;

/** A rule and what is used by it. */
record Section<U extends Usage>(Rule<U> rule, U usage) {

    static <U extends Usage> Section<U> unused(Rule<U> rule, long now) {
        return new Section<>(rule, rule.unused(now));
    }

    /** What the rule makes of another's section. */
    static <U extends Usage> Section<U> adopt(Rule<U> rule, Section<?> other, long now) {
        return new Section<>(rule, rule.adopt(other, now)).recover(now);
    }

    long since() {
        return usage.since();
    }

    Section<U> recover(long now) {
        U recovered = rule.recover(usage, now);
        return recovered == usage ? this : new Section<>(rule, recovered);
    }

    long used(long now) {
        return rule.used(usage, now);
    }

    /** Permits in use, but no more than the capacity of the rule that adopts them. */
    long used(long now, long most) {
        return Math.min(used(now), most);
    }

    long timeUntil(long most, long now) {
        return rule.timeUntil(most, usage, now);
    }

    /** The time in microseconds until the bucket is as if never used. */
    long resetAfter(long now) {
        return used(now) == 0 ? 0 : timeUntil(0, now);
    }

    Section<U> take(long now, long permits) {
        return new Section<>(rule, rule.take(usage, now, permits));
    }

    Section<U> giveBack(long now, long permits, Count receipt) {
        return new Section<>(rule, rule.giveBack(usage, now, permits, receipt)).recover(now);
    }

    Section<U> witness(long now, long permits) {
        Section<U> recovered = recover(now);
        return new Section<>(rule, rule.witness(recovered.usage, now, permits));
    }
}
