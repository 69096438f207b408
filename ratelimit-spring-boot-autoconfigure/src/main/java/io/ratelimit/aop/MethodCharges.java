package io.ratelimit.aop;

import io.ratelimit.expression.CallCost;
import io.ratelimit.expression.RateLimitOperation;
import io.ratelimit.internal.limiter.MethodLimits;
import io.ratelimit.internal.limiter.RateLimitGate;
import io.ratelimit.spi.Charge;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Decides, by the limits of a method as they apply now, what each call is charged and whether a call may block, holds permits, or
 * is settled when it ends. Immutable: when one of the limits changes, another one takes its place.
 *
 * @param operations of the enabled limits
 * @param holdsPermits whether a call holds permits until it ends
 * @param isSettled whether the end of a call determines what is charged
 * @param fixedCharges the charges of every call; {@code null}: they depend on the call
 */
record MethodCharges(
        LimitedMethod method,
        List<RateLimitOperation> operations,
        boolean readsPrincipal,
        boolean holdsPermits,
        boolean isSettled,
        boolean resolvesPlans,
        @Nullable List<Charge> fixedCharges) {

    static MethodCharges of(LimitedMethod method) {
        List<RateLimitOperation> operations = method.operations().stream()
                .filter(RateLimitOperation::isEnabled)
                .toList();
        return new MethodCharges(
                method,
                operations,
                any(operations, RateLimitOperation::readsPrincipal),
                any(operations, operation -> !operation.limit().hasRate()),
                any(operations, operation -> !operation.refundOn().isEmpty() || operation.actualCost() != null),
                any(operations, RateLimitOperation::resolvesPlans),
                any(operations, RateLimitOperation::needsEvaluation)
                        ? null
                        : operations.stream().map(RateLimitOperation::charge).toList());
    }

    private static boolean any(List<RateLimitOperation> operations, Predicate<RateLimitOperation> test) {
        return operations.stream().anyMatch(test);
    }

    MethodLimits limits() {
        return new MethodLimits(
                operations.stream().map(RateLimitOperation::limit).toList(), method.fallback() != null);
    }

    /** Returns whether a call that may block its thread does: to wait for the store or for permits. */
    boolean mayBlock(RateLimitGate gate) {
        return any(operations, operation -> operation.mayDelay() || !gate.isNonBlocking(operation.limit()));
    }

    /** Returns whether charges may be refunded when a call ends. */
    boolean isRefundable() {
        return holdsPermits || isSettled;
    }

    /** Returns whether every call has at most one charge, which is never settled. */
    boolean hasSingleCharge() {
        return operations.size() == 1 && !isRefundable() && !resolvesPlans;
    }

    /** Returns the charges that are refunded after a failure of the method. */
    List<Charge> refundable(List<Charge> charges, Throwable failure) {
        return charges.stream()
                .filter(charge -> of(charge).anyMatch(operation -> operation.isRefundedOn(failure)))
                .toList();
    }

    /** Starts to compute the actual costs of a call, for charges of limits with {@code permitsAfter}. */
    Map<Charge, CallCost> costs(List<Charge> charges) {
        // A subscriber may cancel while a result is noted.
        Map<Charge, CallCost> costs = new ConcurrentHashMap<>();
        charges.forEach(charge -> of(charge)
                .map(RateLimitOperation::actualCost)
                .filter(Objects::nonNull)
                .forEach(cost -> costs.put(charge, new CallCost(cost))));
        return costs;
    }

    private Stream<RateLimitOperation> of(Charge charge) {
        return operations.stream()
                .filter(operation ->
                        operation.limit().id().equals(charge.limit().id()));
    }
}
