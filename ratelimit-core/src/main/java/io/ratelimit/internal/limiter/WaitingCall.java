package io.ratelimit.internal.limiter;

import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitDecision;
import io.ratelimit.RateLimitOverride;
import io.ratelimit.internal.concurrent.DaemonThreads;
import io.ratelimit.internal.concurrent.Futures;
import io.ratelimit.spi.Charge;
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

    private static final RateLimitOverride TRIAL =
            RateLimitOverride.builder().dryRun(true).build();

    /** What it asked for when it came: how long it waits, and where, stays. */
    private final StoreRequest asked;

    private final UnaryOperator<RateLimit> present;

    private final Executor executor;

    private final Consumer<StoreOutcome> late;

    private volatile @Nullable PermitQueue queue;

    private final CompletableFuture<StoreOutcome> outcome = new CompletableFuture<>();

    private volatile boolean entered;

    private volatile @Nullable StoreOutcome rejection;

    /**
     * @param present returns the limit that applies now in the place of one that the call knows
     * @param executor completes the outcome after a wait
     * @param late gets a decision that comes when the call is over, such as a cancelled one
     */
    WaitingCall(
            StoreRequest request, UnaryOperator<RateLimit> present, Executor executor, Consumer<StoreOutcome> late) {
        this.asked = request;
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

    /** Returns whether limits have charged the call: of one that has to wait, those in dry run. */
    static boolean isCharged(StoreOutcome outcome) {
        return IntStream.range(0, outcome.charges().size())
                .anyMatch(i -> outcome.charges().get(i).permits() > 0 && outcome.isCharged(i));
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
     * Returns what the call asks for by the attributes that its limits have now, such as another capacity. It needs no permits of
     * one that is disabled, and again all of them if that one is enabled before the call was let in.
     */
    StoreRequest request() {
        List<Charge> charges = asked().stream().map(this::byPresentLimit).toList();
        return charges.equals(asked()) ? asked : asked.with(charges);
    }

    private Charge byPresentLimit(Charge charge) {
        RateLimit limit = present.apply(charge.limit());
        if (limit == charge.limit() || limit.hasRate() != charge.limit().hasRate()) {
            return charge;
        }
        // Stores do not read whether a limit is enabled, and would reject the call if its key is blocked.
        return limit.enabled()
                ? new Charge(limit, charge.key(), charge.permits())
                : new Charge(limit.definition().with(TRIAL), charge.key(), 0);
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
        return outcome.isDone();
    }

    /** From now on, the calling thread is another one than that of the call. */
    void entered() {
        entered = true;
    }

    boolean hasEntered() {
        return entered;
    }

    /** Returns the last rejection; {@code null} if the call was not decided yet. */
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
        // It lacks nothing any more, also before a thread completes it.
        rejection = null;
        continueBy(() -> {
            if (decided == null) {
                outcome.completeExceptionally(Futures.unwrap(Objects.requireNonNull(thrown)));
            } else if (!outcome.complete(decided)) {
                late.accept(decided);
            }
        });
    }

    private void continueBy(Runnable end) {
        if (entered) {
            DaemonThreads.runApart(executor, end);
        } else {
            end.run();
        }
    }
}
