package io.ratelimit.internal.limiter;

import io.ratelimit.RateLimitPlan;
import io.ratelimit.internal.concurrent.BoundedCache;
import io.ratelimit.internal.concurrent.BoundedWait;
import io.ratelimit.internal.concurrent.Futures;
import io.ratelimit.internal.concurrent.OnceAMinute;
import io.ratelimit.internal.concurrent.Timeouts;
import io.ratelimit.spi.KeyDigest;
import io.ratelimit.spi.RateLimitPlanResolver;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Keeps the plans of the keys of one limit. Asks the resolver once for each key, and again in the background when the answer is
 * old. While it fails, the last answer applies. Bounded.
 *
 * <p>A plan that is not known, or more than twice as old as it should be, is waited for, for a short time. If it does not come, no
 * call waits until there is an answer of any key, or for ten seconds, and none of the same key until the resolver is asked again.
 */
public final class PlanCache {

    private static final System.Logger logger = System.getLogger("io.ratelimit.plans");

    /** The time after which a failed resolver is asked again for the same key; each time it is doubled. */
    private static final Duration FIRST_RETRY = Duration.ofSeconds(1);

    /** The time without waits after one that was too short. */
    private static final Duration WITHOUT_WAITS = Duration.ofSeconds(10);

    /** The time after which an answer is no longer expected, so that the resolver is asked again. */
    private static final Duration LONGEST_QUESTION = Duration.ofSeconds(30);

    private final PlanCacheManager settings;

    private final String limit;

    private final Supplier<RateLimitPlanResolver> resolver;

    private final LongSupplier nanos;

    private final long freshNanos;

    private final BoundedCache<String, Entry> entries;

    /** Whether the log has a failure, and no answer since. */
    private final AtomicBoolean failing = new AtomicBoolean();

    private final OnceAMinute failures;

    private volatile long noWaitUntil;

    /**
     * Creates a cache of one limit's plans.
     *
     * @param limit the name of the limit
     * @param resolver looks the bean up at the first call, because it may depend on limited beans
     */
    PlanCache(PlanCacheManager settings, String limit, Supplier<RateLimitPlanResolver> resolver) {
        this.settings = settings;
        this.limit = limit;
        this.resolver = resolver;
        this.nanos = settings.nanos;
        this.freshNanos = settings.fresh.toNanos();
        this.entries = new BoundedCache<>(settings.mostKeys, digest -> new Entry());
        this.noWaitUntil = nanos.getAsLong();
        this.failures = new OnceAMinute(nanos);
    }

    /** Returns the plan of a key as far as it is known, and asks for it if it is not or if it is old; {@code null}: none. */
    public @Nullable RateLimitPlan find(String key) {
        Entry entry = entry(key);
        Answer answer = entry.answer;
        if (answer == null || age(answer) > freshNanos) {
            var unused = entry.ask(key);
            answer = entry.answer;
        }
        return answer == null ? null : answer.plan;
    }

    /**
     * Returns what is done as soon as the plan of a key is known or no call waits for it any more, which is soon; {@code null} if
     * it can be {@linkplain #find found} now.
     */
    public @Nullable CompletableFuture<?> await(String key) {
        Entry entry = entry(key);
        Answer answer = entry.answer;
        if (answer != null && age(answer) <= 2 * freshNanos) {
            return null;
        }
        Question asked = entry.ask(key);
        if (asked == null
                || asked.isDone()
                || settings.timeout.isZero()
                || nanos.getAsLong() - noWaitUntil < 0
                || asked.late.get()) {
            return null;
        }
        return Timeouts.complete(asked.handle((done, thrown) -> true), false, settings.timeout)
                .thenAccept(inTime -> {
                    if (!inTime && asked.late.compareAndSet(false, true)) {
                        late();
                    }
                });
    }

    /** Blocks until one of {@link #await} is done, which is soon. */
    public static void block(CompletableFuture<?> awaited) {
        BoundedWait.await(awaited, LONGEST_QUESTION);
    }

    /** Replaces a long key by its digest, repeated so that the text is longer than every key that is kept as it is. */
    private Entry entry(String key) {
        return entries.get(
                key.length() > KeyDigest.LONGEST_KEY ? KeyDigest.of(key).repeat(3) : key);
    }

    private long age(Answer answer) {
        return nanos.getAsLong() - answer.since;
    }

    private void late() {
        noWaitUntil = nanos.getAsLong() + WITHOUT_WAITS.toNanos();
        failed("no answer within " + settings.timeout.toMillis() + "ms");
    }

    /** Logs at most once a minute: a resolver may fail for some keys all the time. */
    private void failed(String cause) {
        if (!failing.get() && failures.isDue(limit) && failing.compareAndSet(false, true)) {
            logger.log(
                    Level.WARNING,
                    "Plans of rate limit '" + limit + "' cannot be resolved (" + cause
                            + "); applying the last known plan of each key, or the limit's own numbers");
        }
    }

    private void answered() {
        noWaitUntil = nanos.getAsLong();
        if (failing.get() && failing.compareAndSet(true, false)) {
            logger.log(Level.INFO, "Plans of rate limit '" + limit + "' are resolved again");
        }
    }

    /** @param since when the resolver was asked */
    private record Answer(@Nullable RateLimitPlan plan, long since) {}

    /** Done when the resolver has answered or failed, or no answer is expected any more. */
    private static final class Question extends CompletableFuture<Void> {

        /** Whether a call has waited for it for too short a time, so that others do not. */
        private final AtomicBoolean late = new AtomicBoolean();
    }

    /** What is known of one key. */
    private final class Entry {

        private volatile @Nullable Answer answer;

        private @Nullable Question question;

        private long retryNanos;

        private long noQuestionUntil = nanos.getAsLong();

        /** Asks the resolver, unless that is under way or has just failed; then {@code null}. */
        @Nullable
        Question ask(String key) {
            Question asked = new Question();
            long since = nanos.getAsLong();
            synchronized (this) {
                Question present = question;
                if (present != null) {
                    return present;
                }
                if (since - noQuestionUntil < 0) {
                    return null;
                }
                question = asked;
            }
            var unused = Timeouts.fail(asked, LONGEST_QUESTION).exceptionally(late -> {
                end(asked, late);
                return null;
            });
            unused = Futures.start(() -> resolver.get().resolveAsync(limit, key, settings.executor))
                    .handle((plan, thrown) -> {
                        if (thrown == null) {
                            answer(new Answer(plan, since));
                        }
                        end(asked, thrown == null ? null : Futures.unwrap(thrown));
                        asked.complete(null);
                        return null;
                    });
            return asked;
        }

        /** An answer that is late must not replace that of a later question. */
        private synchronized void answer(Answer next) {
            Answer known = answer;
            if (known == null || next.since - known.since >= 0) {
                answer = next;
            }
        }

        private synchronized void end(Question asked, @Nullable Throwable failure) {
            if (question != asked) {
                return;
            }
            question = null;
            if (failure == null) {
                retryNanos = 0;
                answered();
                return;
            }
            retryNanos = Math.min(freshNanos, Math.max(FIRST_RETRY.toNanos(), 2 * retryNanos));
            noQuestionUntil = nanos.getAsLong() + retryNanos;
            failed(failure.getClass().getName());
            logger.log(Level.DEBUG, "A plan of rate limit '" + limit + "' cannot be resolved", failure);
        }
    }
}
