package io.ratelimit.internal.limiter;

import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitDecision;
import io.ratelimit.internal.concurrent.DaemonThreads;
import io.ratelimit.internal.concurrent.Futures;
import io.ratelimit.internal.store.CombinedOutcome;
import io.ratelimit.spi.Charge;
import io.ratelimit.spi.RateLimitStore;
import io.ratelimit.spi.StoreOutcome;
import io.ratelimit.spi.StoreRequest;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** A call that waits for its turn to be decided, and for permits that other calls hold. */
final class WaitingCall {

    /** What it asked for when it came: how long it waits, and where, stays. */
    private final StoreRequest asked;

    private final RateLimitStore store;

    private final UnaryOperator<RateLimit> present;

    private final Executor executor;

    private final Consumer<StoreOutcome> late;

    private volatile @Nullable PermitQueue queue;

    private final CompletableFuture<StoreOutcome> outcome = new CompletableFuture<>();

    private volatile boolean entered;

    private volatile @Nullable StoreOutcome rejection;

    /** Whether its time is over. */
    private volatile boolean expired;

    /** Whether the wait is over, also while limits in dry run are decided. */
    private volatile boolean over;

    /**
     * @param present returns the limit that applies now in the place of one that the call knows
     * @param executor completes the outcome after a wait
     * @param late gets a decision that comes when the call is over, such as a cancelled one
     */
    WaitingCall(
            StoreRequest request,
            RateLimitStore store,
            UnaryOperator<RateLimit> present,
            Executor executor,
            Consumer<StoreOutcome> late) {
        this.asked = request;
        this.store = store;
        this.present = present;
        this.executor = executor;
        this.late = late;
    }

    /** Returns whether the call waits if its only obstacle are permits that other calls hold. */
    static boolean isFor(List<Charge> charges) {
        return charges.stream().anyMatch(WaitingCall::waits);
    }

    private static boolean waits(Charge charge) {
        return mayWait(charge.limit()) && !charge.limit().dryRun();
    }

    private static boolean mayWait(RateLimit limit) {
        return !limit.hasRate() && !limit.maxWait().isZero();
    }

    /** Returns whether the permits that other calls hold are all that the call lacks, of limits with a {@code maxWait} when it came. */
    boolean isWorthWaiting(StoreOutcome outcome) {
        boolean rejected = false;
        List<Charge> charges = outcome.charges();
        for (int i = 0; i < charges.size(); i++) {
            RateLimitDecision decision = outcome.decisions().get(i);
            Charge charge = charges.get(i);
            if (!decision.allowed() && !charge.limit().dryRun()) {
                if (!mayWait(asked().get(i).limit()) || decision.retryAfter() == null) {
                    return false;
                }
                rejected = true;
            }
        }
        return rejected;
    }

    /** Returns the numbers of the charges whose permits the call waits for. */
    IntStream waiting() {
        return IntStream.range(0, asked().size()).filter(i -> waits(asked().get(i)));
    }

    /** Returns the first charge whose permits the call waits for. */
    Charge first() {
        return asked().get(waiting().findFirst().orElseThrow());
    }

    /** Returns how long the call waits: as long as each of its limits allows. */
    Duration maxWait() {
        return waiting()
                .mapToObj(i -> asked().get(i).limit().maxWait())
                .min(Duration::compareTo)
                .orElseThrow();
    }

    List<Charge> asked() {
        return asked.charges();
    }

    /**
     * Decides the call by the attributes that its limits have now, such as another capacity, without limits that cannot reject it. It
     * needs no permits of one that is disabled, and again all of them if that one is enabled before the call was let in.
     */
    CompletableFuture<StoreOutcome> decide() {
        return Futures.start(this::decideByPresentLimits);
    }

    private CompletableFuture<StoreOutcome> decideByPresentLimits() {
        List<Charge> charges = asked().stream().map(this::byPresentLimit).toList();
        List<Charge> others =
                charges.stream().filter(charge -> !mayReject(charge)).toList();
        StoreRequest request = charges.equals(asked()) ? asked : asked.with(charges);
        if (others.isEmpty()) {
            return ask(request);
        }
        StoreOutcome allowed = CombinedOutcome.allowed(asked.with(others));
        if (others.size() == charges.size()) {
            return CompletableFuture.completedFuture(allowed);
        }
        return ask(asked.with(charges.stream().filter(WaitingCall::mayReject).toList()))
                .thenApply(decided -> CombinedOutcome.of(request, List.of(decided, allowed)));
    }

    private CompletableFuture<StoreOutcome> ask(StoreRequest request) {
        return Futures.start(() -> store.decide(request).toStage());
    }

    private Charge byPresentLimit(Charge charge) {
        RateLimit limit = present.apply(charge.limit());
        return limit == charge.limit() || limit.hasRate() != charge.limit().hasRate()
                ? charge
                : new Charge(limit, charge.key(), limit.enabled() ? charge.permits() : 0);
    }

    private static boolean mayReject(Charge charge) {
        return charge.limit().enabled() && !charge.limit().dryRun();
    }

    /**
     * Decides limits in dry run, after the wait: what they had given to a call that waits would be missing for others. They count for a
     * rejected call, too. A failure counts as allowed.
     */
    private CompletableFuture<StoreOutcome> withTrials(StoreOutcome decided) {
        List<Charge> trials = decided.charges().stream()
                .filter(charge -> charge.limit().enabled() && charge.limit().dryRun())
                .toList();
        return trials.isEmpty() || outcome.isDone()
                ? CompletableFuture.completedFuture(decided)
                : ask(asked.with(trials))
                        .thenApply(tried -> CombinedOutcome.of(asked.with(decided.charges()), List.of(decided, tried)))
                        .exceptionally(thrown -> decided);
    }

    /** The call is about to join a queue. */
    void join(PermitQueue next) {
        queue = next;
    }

    /** Returns the queue that the call has joined. */
    PermitQueue queue() {
        return Objects.requireNonNull(queue);
    }

    CompletableFuture<StoreOutcome> outcome() {
        return outcome;
    }

    boolean isOver() {
        return over || outcome.isDone();
    }

    /** The decision under way, if there is one, is the last. */
    void expire() {
        expired = true;
    }

    boolean isExpired() {
        return expired;
    }

    /** From now on, the calling thread is another one than that of the call. */
    void entered() {
        entered = true;
    }

    boolean hasEntered() {
        return entered;
    }

    /** Returns the last rejection; {@code null} if the call was not decided yet, or its wait is over. */
    @Nullable
    StoreOutcome rejection() {
        return rejection;
    }

    /** Returns whether the call was rejected last for the lack of these permits, by the number of their charge. */
    boolean lacks(int charge) {
        StoreOutcome last = rejection;
        return last != null && !isOver() && !last.decisions().get(charge).allowed();
    }

    /** Keeps the call waiting. */
    void reject(StoreOutcome rejected) {
        rejection = rejected;
    }

    /** Ends the wait with a decision or a failure. */
    void finish(@Nullable StoreOutcome decided, @Nullable Throwable thrown) {
        over = true;
        rejection = null;
        if (decided == null) {
            continueBy(() -> outcome.completeExceptionally(Futures.unwrap(Objects.requireNonNull(thrown))));
            return;
        }
        var unused = withTrials(decided)
                .thenAccept(whole -> continueBy(() -> {
                    if (!outcome.complete(whole)) {
                        late.accept(whole);
                    }
                }));
    }

    private void continueBy(Runnable end) {
        if (entered) {
            DaemonThreads.runApart(executor, end);
        } else {
            end.run();
        }
    }
}
