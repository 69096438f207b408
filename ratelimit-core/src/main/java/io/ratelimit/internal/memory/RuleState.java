package io.ratelimit.internal.memory;

import org.jspecify.annotations.Nullable;

/**
 * A rule and its state.
 *
 * @param refundableFrom charges made before this time cannot be refunded, because permits of a later call, which another rule has
 *     admitted, were not counted for lack of room; 0 if all were. An algorithm of the application counts what is refunded instead
 */
record RuleState<U extends Usage>(Rule<U> rule, U usage, long refundableFrom) {

    RuleState(Rule<U> rule, U usage) {
        this(rule, usage, 0);
    }

    @SuppressWarnings("ReferenceEquality") // The very state, which need not be copied.
    private RuleState<U> with(U next) {
        return next == usage ? this : new RuleState<>(rule, next, refundableFrom);
    }

    static <U extends Usage> RuleState<U> unused(Rule<U> rule, long now) {
        return new RuleState<>(rule, rule.unused(now));
    }

    /**
     * Returns the state that a new rule takes over from another. It may have had a state before, which knew what its earlier charges
     * have taken: this one does not, so they cannot be refunded.
     */
    static <U extends Usage> RuleState<U> adopt(Rule<U> rule, RuleState<?> other, long now) {
        long adopted = other.used(now) > rule.capacity() ? now + 1 : now;
        return new RuleState<>(rule, rule.adopt(other, now), Math.max(other.refundableFrom, adopted)).recover(now);
    }

    /** Returns the state by an equal rule. Rules of a calendar can be equal and know different windows. */
    @SuppressWarnings({"unchecked", "ReferenceEquality"}) // Equal rules have states of one kind.
    RuleState<U> by(Rule<?> equal) {
        return equal == rule ? this : new RuleState<>((Rule<U>) equal, usage, refundableFrom);
    }

    long since() {
        return usage.since();
    }

    /** If nothing is used any more, whatever was charged before is back. */
    RuleState<U> recover(long now) {
        U recovered = rule.recover(usage, now);
        return refundableFrom == 0 || rule.used(recovered, now) > 0
                ? with(recovered)
                : new RuleState<>(rule, recovered);
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

    void begin(Admission admission, long now) {
        admission.begin(rule, usage, now);
    }

    /** Returns how much is lost if the state is removed. */
    EvictionPriority use(long now) {
        long remaining = Math.max(0, rule.capacity() - used(now));
        return new EvictionPriority(1 - (double) remaining / rule.capacity(), resetAfter(now));
    }

    RuleState<U> take(long now, long permits) {
        return with(rule.take(usage, now, permits));
    }

    boolean isFull(long now) {
        return used(now) >= rule.capacity();
    }

    boolean isRefundable(ChargedPermits from) {
        return from.time() >= refundableFrom || rule instanceof OwnRule;
    }

    /** @param entryStays whether another log of the bucket needs the charge's entry */
    RuleState<U> refund(long now, long permits, long charged, ChargedPermits from, boolean entryStays) {
        return with(rule.refund(usage, now, permits, charged, from.receipt(), entryStays))
                .recover(now);
    }

    /**
     * Returns the state after a refund by another rule of its kind.
     *
     * @param own the state of the other rule before the refund
     */
    RuleState<U> refundObserved(long now, long permits, ChargedPermits from, RuleState<?> own) {
        RuleState<U> recovered = recover(now);
        return rule.getClass() == own.rule.getClass() && recovered.isRefundable(from)
                ? recovered
                        .with(rule.refundObserved(recovered.usage, now, permits, from.time(), own.later(from)))
                        .recover(now)
                : recovered;
    }

    private long later(ChargedPermits from) {
        return rule.later(usage, from.receipt());
    }

    /** @param first the state of the rule that is charged first; {@code null}: this one is */
    RuleState<U> force(long now, long permits, @Nullable RuleState<?> first) {
        RuleState<U> recovered = recover(now);
        return with(rule.force(recovered.usage, now, permits, first));
    }

    RuleState<U> grant(long now, long permits) {
        RuleState<U> recovered = recover(now);
        return with(rule.grant(recovered.usage, now, permits)).recover(now);
    }

    /** @param admitting the state of the rule that has admitted the call, after it */
    RuleState<U> observe(long now, long permits, RuleState<?> admitting) {
        RuleState<U> recovered = recover(now);
        RuleState<U> observed = recovered.with(rule.observe(recovered.usage, now, permits, admitting));
        // What is not counted must not be refunded in place of an earlier charge.
        return rule instanceof OwnRule || observed.used(now) - recovered.used(now) >= permits
                ? observed
                : new RuleState<>(rule, observed.usage, Math.max(recovered.refundableFrom, now) + 1);
    }
}
