package io.ratelimit.internal.store.contract;

import org.junit.jupiter.api.Nested;

/** The contracts of what a store does when a call ends: refunds and settlements. A store's second test class extends this. */
public abstract class CallEndContracts implements StoreFactory {

    @Nested
    class RefundExactness extends RefundExactnessContract {}

    @Nested
    class SlidingWindowLogRefunds extends SlidingWindowLogRefundContract {}

    @Nested
    class Refunds extends RefundContract {}

    @Nested
    class PlanRefunds extends PlanRefundContract {}

    @Nested
    class PlanRefundTrace extends PlanRefundTraceContract {}

    @Nested
    class Settlements extends SettlementContract {}

    @Nested
    class RefundOrder extends RefundOrderContract {}
}
