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
        return new Section<>(rule, rule.recover(usage, now));
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

    long resetAfter(long now) {
        return rule.resetAfter(usage, now);
    }

    Claim claim(KnownLimit limit, long now, long permits) {
        return Claim.of(limit, rule, usage, now, permits);
    }

    /** How much is lost if it is forgotten. */
    BucketUse use(long now) {
        long remaining = Math.max(0, rule.capacity() - used(now));
        return new BucketUse(1 - (double) remaining / rule.capacity(), resetAfter(now));
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
