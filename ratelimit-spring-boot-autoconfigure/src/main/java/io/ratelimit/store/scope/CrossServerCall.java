package io.ratelimit.store.scope;

import io.ratelimit.Charge;
import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitDecision;
import io.ratelimit.concurrent.BoundedWait;
import io.ratelimit.concurrent.Futures;
import io.ratelimit.store.RateLimitStore;
import io.ratelimit.store.Refund;
import io.ratelimit.store.StoreOutcome;
import io.ratelimit.store.StoreRequest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;

/**
 * A call with limits in several servers. All of them are asked at the same time, so the call takes as long as the slowest one.
 * If one rejects the call or cannot decide it, the charges of the others are refunded. No caller waits for that: a later call
 * of this instance is sent after the refund.
 */
final class CrossServerCall {

    private final StoreRequest request;

    private final Map<RateLimitStore, List<Charge>> charges = new LinkedHashMap<>();

    /** @param servers returns the store of a limit */
    CrossServerCall(StoreRequest request, Function<RateLimit, RateLimitStore> servers) {
        this.request = request;
        for (Charge charge : request.charges()) {
            charges.computeIfAbsent(servers.apply(charge.limit()), server -> new ArrayList<>())
                    .add(charge);
        }
    }

    CompletableFuture<StoreOutcome> decide() {
        List<CompletableFuture<StoreOutcome>> asked = new ArrayList<>();
        charges.forEach(
                (server, some) -> asked.add(Futures.start(() -> server.decideAsync(StoreRequest.refundable(some)))));
        return CompletableFuture.allOf(asked.toArray(CompletableFuture[]::new))
                .handle((all, thrown) -> thrown == null
                        ? outcome(asked.stream().map(BoundedWait::result).toList())
                        : undo(asked));
    }

    /** Refunds what the other servers have charged, in dry run, too: the call was not decided. */
    private static StoreOutcome undo(List<CompletableFuture<StoreOutcome>> asked) {
        Throwable failure = null;
        for (CompletableFuture<StoreOutcome> each : asked) {
            if (each.isCompletedExceptionally()) {
                failure = failure == null ? BoundedWait.result(each.handle((outcome, thrown) -> thrown)) : failure;
            } else {
                StoreOutcome outcome = BoundedWait.result(each);
                refund(outcome, outcome.charges());
            }
        }
        throw Futures.wrap(failure);
    }

    private StoreOutcome outcome(List<StoreOutcome> parts) {
        boolean rejected = parts.stream().anyMatch(StoreOutcome::isRejected);
        Map<Charge, RateLimitDecision> decisions = new HashMap<>();
        for (StoreOutcome part : parts) {
            boolean takenBack = rejected && !part.isRejected();
            for (int i = 0; i < part.charges().size(); i++) {
                Charge charge = part.charges().get(i);
                RateLimitDecision decision = part.decisions().get(i);
                decisions.put(charge, takenBack && isEnforced(charge) ? withoutCharge(decision, charge) : decision);
            }
            if (takenBack) {
                refund(
                        part,
                        part.charges().stream()
                                .filter(CrossServerCall::isEnforced)
                                .toList());
            }
        }
        List<RateLimitDecision> inOrder = request.charges().stream()
                .map(decisions::get)
                .map(Objects::requireNonNull)
                .toList();
        return request.refundable()
                ? StoreOutcome.of(request, inOrder, refund(parts))
                : StoreOutcome.of(request, inOrder);
    }

    private static boolean isEnforced(Charge charge) {
        return !charge.limit().dryRun();
    }

    /** Returns the decision about a charge that is refunded, without asking again: its permits are left. */
    private static RateLimitDecision withoutCharge(RateLimitDecision charged, Charge charge) {
        boolean reserved = !charged.delay().isZero();
        long remaining =
                reserved ? charged.remaining() : Math.min(charged.capacity(), charged.remaining() + charge.permits());
        return new RateLimitDecision(
                true,
                charged.capacity(),
                remaining,
                charged.delay(),
                Duration.ZERO,
                remaining == charged.capacity() ? Duration.ZERO : charged.resetAfter());
    }

    private static void refund(StoreOutcome part, List<Charge> some) {
        if (!some.isEmpty()) {
            // The server's decorator logs a failure.
            var unused = Futures.start(() -> part.refund().refund(some));
        }
    }

    private static Refund refund(List<StoreOutcome> parts) {
        return permits -> CompletableFuture.allOf(
                parts.stream().map(part -> refund(part, permits)).toArray(CompletableFuture[]::new));
    }

    private static CompletableFuture<Void> refund(StoreOutcome part, Map<Charge, Long> permits) {
        Map<Charge, Long> some = new HashMap<>(permits);
        some.keySet().retainAll(part.charges());
        return some.isEmpty()
                ? CompletableFuture.completedFuture(null)
                : Futures.start(() -> part.refund().refund(some));
    }
}
