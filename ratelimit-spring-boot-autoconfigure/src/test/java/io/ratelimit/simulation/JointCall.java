package io.ratelimit.simulation;

import io.ratelimit.RateLimitDecision;
import io.ratelimit.RateLimitExceededException;
import io.ratelimit.internal.concurrent.Futures;
import io.ratelimit.internal.limiter.AcquireRequest;
import io.ratelimit.internal.limiter.CallListener;
import io.ratelimit.internal.limiter.Settlement;
import io.ratelimit.spi.Charge;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** A call with limits in several stores, from its decision to its end, and what it has told. */
final class JointCall implements CallListener {

    /** How a call is over, or goes on. */
    private enum State {
        PENDING,
        ADMITTED,
        REJECTED,
        FAILED,
        CANCELLED
    }

    final int number;

    final JointInstance instance;

    final List<JointCharge> charges = new ArrayList<>();

    private final SimulatedTime time;

    private final JointModel model;

    final long sent;

    /** The number of the event: many happen at one time. */
    final long sentAs;

    long decidedAs = Long.MAX_VALUE;

    long endedAs = Long.MAX_VALUE;

    /** When the call was decided, has failed or was cancelled. */
    long decided = Long.MAX_VALUE;

    private long ended = -2 * JointModel.RECOVERY;

    private State state = State.PENDING;

    private boolean isEnded;

    private boolean isRefundable;

    private CompletableFuture<Settlement> entered = new CompletableFuture<>();

    JointCall(int number, JointInstance instance, SimulatedTime time, JointModel model) {
        this.number = number;
        this.instance = instance;
        this.time = time;
        this.model = model;
        this.sent = time.micros();
        this.sentAs = model.nextEvent();
    }

    void begin(boolean refundable) {
        List<Charge> all = charges.stream().map(part -> part.charge).toList();
        AcquireRequest request = new AcquireRequest(all, refundable, this);
        isRefundable = request.refundable();
        entered = instance.gate.enterAsync(request).toCompletableFuture();
        var unused = entered.whenComplete((settlement, thrown) -> model.observe(() -> completed(thrown)));
    }

    private void completed(@Nullable Throwable thrown) {
        switch (state) {
            case PENDING -> {
                over(State.FAILED);
                model.check(isFaulty(), "a call fails although no store does: %s (%s)", this, thrown);
            }
            case ADMITTED -> model.check(thrown == null, "a call is admitted, and not let in: %s (%s)", this, thrown);
            case REJECTED ->
                model.check(
                        thrown != null && Futures.unwrap(thrown) instanceof RateLimitExceededException,
                        "a call is rejected, and ends otherwise: %s (%s)",
                        this,
                        thrown);
            case FAILED, CANCELLED -> {}
        }
    }

    private void over(State next) {
        state = next;
        decided = time.micros();
        decidedAs = model.nextEvent();
    }

    @Override
    public void onDecisions(List<Charge> decidedCharges, List<RateLimitDecision> decisions) {
        model.observe(() -> decided(decisions));
    }

    private void decided(List<RateLimitDecision> decisions) {
        boolean late = state == State.CANCELLED && !isQueued() && !isEnded;
        model.check(state == State.PENDING || late, "a call is decided again: %s", this);
        boolean rejected = false;
        for (int i = 0; i < charges.size(); i++) {
            charges.get(i).allowed = decisions.get(i).allowed();
            rejected |= !charges.get(i).allowed && !charges.get(i).isDryRun();
        }
        for (JointCharge part : charges) {
            part.taken = part.allowed && (!rejected || (part.isDryRun() && !part.isHeld()));
            if (late && part.isHeld()) {
                part.ended = time.micros();
            }
        }
        over(rejected ? State.REJECTED : State.ADMITTED);
        if (late) {
            endedAs = decidedAs;
        }
        isEnded = late;
        model.decided(this);
    }

    /** Returns whether the call waits for its turn, and for permits that other calls hold. */
    boolean isQueued() {
        return charges.stream().anyMatch(JointCharge::waits);
    }

    /** Returns whether the call may take a lease: not if another store, or its wait, can undo it. */
    boolean mayTakeLease() {
        return !isRefundable
                && charges.stream().map(part -> part.limit.place).distinct().count() == 1;
    }

    /** Returns how long the call waits for permits at the most. */
    long longestWait() {
        return charges.stream()
                .filter(JointCharge::waits)
                .mapToLong(part -> part.numbers.maxWait())
                .min()
                .orElse(0);
    }

    boolean isPending() {
        return state == State.PENDING;
    }

    boolean isDecided() {
        return state == State.ADMITTED || state == State.REJECTED;
    }

    boolean isCancelled() {
        return state == State.CANCELLED;
    }

    boolean isRejected() {
        return state == State.REJECTED;
    }

    boolean isRunning() {
        return state == State.ADMITTED && !isEnded;
    }

    /** Returns whether a server may have failed while the call was decided, or its charges were undone, or it ended. */
    boolean isFaulty() {
        return instance.mayHaveFailed(sent, decided + JointModel.RECOVERY)
                || instance.mayHaveFailed(ended, ended + JointModel.RECOVERY);
    }

    void cancel() {
        over(State.CANCELLED);
        entered.cancel(false);
    }

    /** @param refunds whether the method fails, so that charges are refunded; not what is leased, and not while a server fails */
    void end(boolean refunds) {
        isEnded = true;
        endedAs = model.nextEvent();
        ended = time.micros();
        Settlement settlement = entered.getNow(Settlement.NONE);
        List<Charge> refunded = new ArrayList<>();
        for (JointCharge part : charges) {
            boolean refund = refunds
                    && isRefundable
                    && !isFaulty()
                    && part.limit.kind == JointLimit.Kind.COUNTED
                    && part.limit.lease == 0;
            if (refund) {
                refunded.add(part.charge);
            }
            if (refund || part.isHeld()) {
                part.ended = time.micros();
            }
        }
        if (!refunded.isEmpty()) {
            var unused = settlement.refund(refunded);
        }
        settlement.release();
    }

    boolean isDone() {
        return entered.isDone();
    }

    @Override
    public String toString() {
        return "#" + number + " of " + instance.name + " " + charges + " " + state;
    }
}
