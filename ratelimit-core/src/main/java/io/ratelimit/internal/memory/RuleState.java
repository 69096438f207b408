package io.ratelimit.internal.memory;

/** A rule and its state. */
record RuleState<U extends Usage>(Rule<U> rule, U usage) {

    static <U extends Usage> RuleState<U> unused(Rule<U> rule, long now) {
        return new RuleState<>(rule, rule.unused(now));
    }

    /** Returns the state that a new rule takes over from another. */
    static <U extends Usage> RuleState<U> adopt(Rule<U> rule, RuleState<?> other, long now) {
        return new RuleState<>(rule, rule.adopt(other, now)).recover(now);
    }

    /** Returns the state by an equal rule. Rules of a calendar can be equal and know different windows. */
    @SuppressWarnings({"unchecked", "ReferenceEquality"}) // Equal rules have states of one kind.
    RuleState<U> by(Rule<?> equal) {
        return equal == rule ? this : new RuleState<>((Rule<U>) equal, usage);
    }

    long since() {
        return usage.since();
    }

    RuleState<U> recover(long now) {
        return new RuleState<>(rule, rule.recover(usage, now));
    }

    long used(long now) {
        return rule.used(usage, now);
    }

    boolean remembersRefunds() {
        return usage.remembersRefunds();
    }

    /** Whether the state need not be kept. */
    boolean isUnused(long now) {
        return used(now) == 0 && !remembersRefunds();
    }

    /** Permits in use, but no more than the capacity of the rule that adopts them. */
    long used(long now, long most) {
        return Math.min(used(now), most);
    }

    long resetAfter(long now) {
        return rule.resetAfter(usage, now);
    }

    Admission admission(CompiledLimit limit, long now, long permits) {
        return Admission.of(limit, rule, usage, now, permits);
    }

    /** Returns how much is lost if the state is removed. */
    EvictionPriority use(long now) {
        long remaining = Math.max(0, rule.capacity() - used(now));
        return new EvictionPriority(1 - (double) remaining / rule.capacity(), resetAfter(now));
    }

    RuleState<U> take(long now, long permits) {
        return new RuleState<>(rule, rule.take(usage, now, permits));
    }

    RuleState<U> refund(long now, long permits, long charged, CounterState receipt) {
        return new RuleState<>(rule, rule.refund(usage, now, permits, charged, receipt)).recover(now);
    }

    RuleState<U> force(long now, long permits) {
        RuleState<U> recovered = recover(now);
        return new RuleState<>(rule, rule.force(recovered.usage, now, permits));
    }

    RuleState<U> force(long now, long permits, RuleState<?> first) {
        RuleState<U> recovered = recover(now);
        return new RuleState<>(rule, rule.force(recovered.usage, now, permits, first));
    }

    /** Returns permits to the bucket. */
    RuleState<U> grant(long now, long permits) {
        RuleState<U> recovered = recover(now);
        return new RuleState<>(rule, rule.grant(recovered.usage, now, permits)).recover(now);
    }

    /** @param admitting the state of the rule that has admitted the call, after it */
    RuleState<U> observe(long now, long permits, RuleState<?> admitting) {
        RuleState<U> recovered = recover(now);
        return new RuleState<>(rule, rule.observe(recovered.usage, now, permits, admitting));
    }
}
