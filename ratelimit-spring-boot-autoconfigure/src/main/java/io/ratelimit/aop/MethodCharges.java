package io.ratelimit.aop;

import io.ratelimit.expression.ActualCost;
import io.ratelimit.expression.CallCost;
import io.ratelimit.expression.DraftedCharges;
import io.ratelimit.expression.Evaluation;
import io.ratelimit.expression.RateLimitOperation;
import io.ratelimit.expression.RequestCall;
import io.ratelimit.internal.limiter.AcquireRequest;
import io.ratelimit.internal.limiter.CallListener;
import io.ratelimit.internal.limiter.MethodLimits;
import io.ratelimit.internal.limiter.RateLimitGate;
import io.ratelimit.reactor.EventLoops;
import io.ratelimit.spi.Charge;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Decides, by the limits of a method as they apply now, what each call is charged and whether a call may block, holds permits, or
 * is settled when it ends. Immutable: when one of the limits changes, another one takes its place.
 */
final class MethodCharges {

    private final LimitedMethod method;

    /** Of the enabled limits. */
    private final List<RateLimitOperation> operations;

    private final boolean readsPrincipal;

    private final boolean holdsPermits;

    private final boolean refundable;

    private final boolean settled;

    private final boolean resolvesPlans;

    /** The charges of every call, if they do not depend on the call. */
    private final @Nullable List<Charge> fixedCharges;

    /** @param all the operations of the method */
    MethodCharges(LimitedMethod method, List<RateLimitOperation> all) {
        this.method = method;
        this.operations = all.stream().filter(RateLimitOperation::isEnabled).toList();
        this.readsPrincipal = operations.stream().anyMatch(RateLimitOperation::readsPrincipal);
        this.holdsPermits =
                operations.stream().anyMatch(operation -> !operation.limit().hasRate());
        this.settled = operations.stream()
                .anyMatch(operation -> !operation.refundOn().isEmpty() || operation.actualCost() != null);
        this.refundable = holdsPermits || settled;
        this.resolvesPlans = operations.stream().anyMatch(RateLimitOperation::resolvesPlans);
        this.fixedCharges = operations.stream().anyMatch(RateLimitOperation::needsEvaluation)
                ? null
                : operations.stream().map(RateLimitOperation::charge).toList();
    }

    LimitedMethod method() {
        return method;
    }

    MethodLimits limits() {
        return new MethodLimits(
                operations.stream().map(RateLimitOperation::limit).toList(), method.fallback() != null);
    }

    /** Returns whether a call may block its thread: to wait for the store or for permits. */
    boolean mayBlock(RateLimitGate gate) {
        return method.strategy().blocks()
                && operations.stream()
                        .anyMatch(operation -> operation.mayDelay() || !gate.isNonBlocking(operation.limit()));
    }

    boolean readsPrincipal() {
        return readsPrincipal;
    }

    /** Returns whether a call holds permits until it ends. */
    boolean holdsPermits() {
        return holdsPermits;
    }

    /** Returns whether the end of a call determines what is charged. */
    boolean isSettled() {
        return settled;
    }

    /** Returns whether every call has at most one charge, which is never settled. */
    boolean hasSingleCharge() {
        return operations.size() == 1 && !refundable && !resolvesPlans;
    }

    /** Returns the {@linkplain #hasSingleCharge() single charge} of a call, or {@code null} if it is not limited. */
    @Nullable
    Charge charge(Evaluation evaluation) {
        return fixedCharges != null ? fixedCharges.get(0) : operations.get(0).charge(evaluation);
    }

    /**
     * Returns the permits that a call requests; without charges if it is not limited. Waits for the plan of the caller, unless the
     * thread must not block.
     */
    AcquireRequest acquireRequest(Evaluation evaluation, @Nullable RequestCall during) {
        return acquireRequest(
                fixedCharges != null ? fixedCharges : drafted(evaluation).await(EventLoops::isCurrentThread),
                during,
                during);
    }

    /** Creates the request of a call that may have to wait for its plan, without blocking: see {@link #acquireRequest}. */
    CompletableFuture<AcquireRequest> acquireRequestAsync(Evaluation evaluation, @Nullable RequestCall during) {
        RequestCall listener = during == null || !refundable ? during : during.endingAnyTime();
        return fixedCharges != null
                ? CompletableFuture.completedFuture(acquireRequest(fixedCharges, during, listener))
                : drafted(evaluation).awaitAsync().thenApply(charges -> acquireRequest(charges, during, listener));
    }

    /** What a limit of calls to others decides is no quota of the caller, and each of these calls counts. */
    private AcquireRequest acquireRequest(
            List<Charge> charges, @Nullable RequestCall during, @Nullable RequestCall listener) {
        return during == null || listener == null || method.isOutbound()
                ? new AcquireRequest(charges, refundable, CallListener.NONE)
                : new AcquireRequest(during.unpaid(charges), refundable, listener);
    }

    private DraftedCharges drafted(Evaluation evaluation) {
        DraftedCharges drafted = new DraftedCharges();
        operations.forEach(operation -> drafted.add(operation, evaluation));
        return drafted;
    }

    /** Returns the charges that are refunded after a failure of the method. */
    List<Charge> refundable(List<Charge> charges, Throwable failure) {
        return charges.stream()
                .filter(charge -> operations.stream()
                        .anyMatch(operation ->
                                operation.limit().id().equals(charge.limit().id()) && operation.isRefundedOn(failure)))
                .toList();
    }

    /** Starts to compute the actual costs of a call, for charges of limits with {@code permitsAfter}. */
    Map<Charge, CallCost> costs(List<Charge> charges) {
        // A subscriber may cancel while a result is noted.
        Map<Charge, CallCost> costs = new ConcurrentHashMap<>();
        for (Charge charge : charges) {
            for (RateLimitOperation operation : operations) {
                ActualCost cost = operation.actualCost();
                if (cost != null && operation.limit().id().equals(charge.limit().id())) {
                    costs.put(charge, cost.start());
                }
            }
        }
        return costs;
    }
}
