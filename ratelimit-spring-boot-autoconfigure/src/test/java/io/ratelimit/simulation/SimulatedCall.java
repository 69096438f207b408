package io.ratelimit.simulation;

import io.ratelimit.RateLimitDecision;
import io.ratelimit.internal.limiter.CallListener;
import io.ratelimit.internal.limiter.Settlement;
import io.ratelimit.spi.Charge;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** A call of one instance, from its decision to its end. The model is told of both. */
final class SimulatedCall implements CallListener {

    /** What is taken from one limit. */
    record Part(Declaration limit, Charge charge, Take take) {

        boolean holds() {
            return !charge.limit().hasRate();
        }
    }

    private final Member member;

    private final Model model;

    private final List<Part> parts;

    private final List<Part> taken = new ArrayList<>();

    private CompletableFuture<Settlement> entered = new CompletableFuture<>();

    private boolean decided;

    private boolean cancelled;

    private boolean over;

    SimulatedCall(Member member, Model model, List<Part> parts) {
        this.member = member;
        this.model = model;
        this.parts = parts;
    }

    void begin() {
        entered = member.instance().enter(parts.stream().map(Part::charge).toList(), this);
        var unused = entered.whenComplete((settlement, thrown) -> model.observe(() -> {
            if (!decided) {
                notDecided(thrown);
            } else if (thrown != null) {
                over = true;
            }
        }));
    }

    private void notDecided(@Nullable Throwable thrown) {
        member.takeFailed();
        over = true;
        if (cancelled) {
            parts.forEach(part -> model.cancelled(part.take(), Member.LATE));
        } else {
            parts.forEach(part -> model.unknown(part.take()));
            member.refused(thrown);
        }
    }

    @Override
    public void onDecisions(List<Charge> charges, List<RateLimitDecision> decisions) {
        model.observe(() -> decided(charges, decisions));
    }

    private void decided(List<Charge> charges, List<RateLimitDecision> decisions) {
        decided = true;
        boolean failed = member.takeFailed();
        boolean rejected = false;
        for (int i = 0; i < parts.size(); i++) {
            rejected |= !decisions.get(i).allowed() && !charges.get(i).limit().dryRun();
        }
        for (int i = 0; i < parts.size(); i++) {
            Part part = parts.get(i);
            boolean shared =
                    !part.limit.has(Feature.INSTANCE_SCOPE) && member.instance().network() != null;
            if (failed && shared) {
                model.unknown(part.take);
                boolean local = switch (part.charge.limit().onStoreFailure()) {
                    case LOCAL -> true;
                    default -> false;
                };
                if (local) {
                    decided(member.locally(part), decisions.get(i), rejected);
                }
            } else {
                decided(part, decisions.get(i), rejected);
            }
        }
        over = rejected;
    }

    private void decided(Part part, RateLimitDecision decision, boolean rejected) {
        Take take = part.take;
        if (!decision.allowed()) {
            model.rejectedBy(take);
        }
        boolean takes = decision.allowed() && (!rejected || (part.charge.limit().dryRun() && !part.holds()));
        if (takes) {
            model.admitted(take);
            taken.add(part);
            if (cancelled && part.holds()) {
                model.ended(take, member.longestRelease(part));
            }
        } else {
            model.notTaken(take);
        }
    }

    boolean isRunning() {
        return !over && !cancelled && entered.isDone();
    }

    boolean isPending() {
        return !over && !cancelled && !entered.isDone();
    }

    boolean isOver() {
        return over || cancelled;
    }

    Member member() {
        return member;
    }

    List<Part> parts() {
        return parts;
    }

    /** Returns what the call holds until it ends. */
    List<Take> held() {
        return taken.stream().filter(Part::holds).map(Part::take).toList();
    }

    void cancel() {
        cancelled = true;
        taken.stream()
                .filter(Part::holds)
                .forEach(part -> model.ended(part.take, member.longestRelease(part) + Model.SECOND));
        entered.cancel(false);
    }

    /** Returns whether a part has been decided by Redis or this instance, and not meanwhile by another store. */
    private boolean isSettled(Part part) {
        return part.limit.has(Feature.PERMITS_AFTER) || part.limit.has(Feature.REFUND_ON);
    }

    /**
     * Ends the call.
     *
     * @param cost about so many times the estimate; 0: the method has failed, and its charges are refunded
     */
    void end(int cost) {
        over = true;
        Settlement settlement = entered.getNow(Settlement.NONE);
        Map<Charge, Long> costs = new LinkedHashMap<>();
        for (Part part : taken) {
            if (part.holds()) {
                model.ended(part.take, member.longestRelease(part));
            } else if (isSettled(part) && (cost == 0 || part.limit.has(Feature.PERMITS_AFTER))) {
                // Every second call costs one permit less, so that parts of charges are refunded, too.
                long less = Math.min(cost, part.take.number % 2);
                long actual = part.charge.permits() * cost - less;
                costs.put(part.charge, actual);
                member.settles(part, actual);
            }
        }
        if (!costs.isEmpty()) {
            var unused = settlement.settle(costs);
        }
        settlement.release();
    }

    @Override
    public String toString() {
        return member.name() + " "
                + parts.stream().map(part -> part.take.toString()).toList();
    }

    String state() {
        if (!entered.isDone()) {
            return "pending";
        }
        return entered.isCompletedExceptionally()
                ? "rejected"
                : "admitted " + taken.stream().map(Part::take).toList();
    }
}
