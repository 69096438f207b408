package io.ratelimit.internal.change;

import io.ratelimit.RateLimit;
import io.ratelimit.event.RateLimitChangedEvent;
import io.ratelimit.event.RateLimitChangedEvent.Kind;
import io.ratelimit.internal.concurrent.FirstFailureLog;
import io.ratelimit.internal.limiter.LimitCatalog;
import io.ratelimit.internal.limiter.LimitState;
import io.ratelimit.internal.limiter.StoredOverride;
import java.lang.System.Logger.Level;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;

/** Tells the log and the listeners what has changed between two states of a limit. */
final class OverrideEvents {

    private static final System.Logger logger = System.getLogger("io.ratelimit");

    private final CopyOnWriteArrayList<ChangeListener> listeners = new CopyOnWriteArrayList<>();

    private final FirstFailureLog failures = new FirstFailureLog(
            "io.ratelimit", "A listener of changes of rate limits failed; its further failures are not logged");

    /** A child context also adds the listeners of its parent, which has done so before. */
    void addListener(LimitCatalog owner, ChangeListener listener) {
        if (listeners.addIfAbsent(listener)) {
            owner.onClose(() -> listeners.remove(listener));
        }
    }

    /** Tells of the overrides of a limit and its plans that have begun or ended to apply, and of those that cannot. */
    void publish(LimitState before, LimitState after, Reading reading) {
        if (after.equals(before)) {
            return;
        }
        Set<String> plans = new TreeSet<>(before.overrides().keySet());
        plans.addAll(after.overrides().keySet());
        plans.forEach(plan -> publish(plan, before, after, reading));
        if (before.problem() == null || !after.overrides().equals(before.overrides())) {
            warnIfInvalid(after);
        }
    }

    private void publish(String plan, LimitState before, LimitState after, Reading reading) {
        StoredOverride was = before.overrides().get(plan);
        StoredOverride is = after.overrides().get(plan);
        RateLimit limit = after.configured();
        String ofPlan = plan.equals(LimitState.OF_LIMIT) ? "" : "plan " + plan;
        boolean here = id(limit, plan).equals(reading.changed);
        if (is != null) {
            if (after.problem() == null && (before.problem() != null || !is.equals(was))) {
                publish(
                        after,
                        new RateLimitChangedEvent(
                                limit.name(),
                                Kind.OVERRIDDEN,
                                (ofPlan.isEmpty() ? "" : ofPlan + ": ") + is.attributes(),
                                is.until(),
                                is.principal(),
                                here));
            }
        } else if (was != null) {
            boolean ended = !here && was.hasEnded(reading.nowMicros);
            publish(
                    after,
                    new RateLimitChangedEvent(
                            limit.name(),
                            ended ? Kind.OVERRIDE_ENDED : Kind.OVERRIDE_REMOVED,
                            ofPlan,
                            null,
                            here ? reading.principal : null,
                            here || (ended && reading.endedHere)));
        }
    }

    /** Tells of another configuration of a limit. */
    void publishReconfigured(LimitState after) {
        publish(after, new RateLimitChangedEvent(after.configured().name(), Kind.RECONFIGURED, "", null, null, true));
        warnIfInvalid(after);
    }

    private static void warnIfInvalid(LimitState state) {
        if (state.problem() != null) {
            logger.log(
                    Level.WARNING,
                    "The overrides of rate limit ''{0}'' are invalid on this instance ({1}); applying the configured numbers to"
                            + " the limit and its plans",
                    state.configured().name(),
                    state.problem());
        }
    }

    /** Returns the id that the override of a limit or a plan is stored under. No limit has a slash in its name. */
    static String id(RateLimit limit, String plan) {
        return plan.equals(LimitState.OF_LIMIT) ? limit.id() : limit.id() + "/" + plan;
    }

    private void publish(LimitState after, RateLimitChangedEvent event) {
        logger.log(Level.INFO, describe(event) + "; now " + after.effective());
        tell(event);
    }

    void tell(RateLimitChangedEvent event) {
        for (ChangeListener listener : listeners) {
            try {
                listener.onChange(event);
            } catch (Throwable ex) {
                failures.log(ex);
            }
        }
    }

    /** Describes a change that was made, for the log. */
    static String describe(RateLimitChangedEvent event) {
        String by = by(event.principal());
        String until = event.until() == null ? "" : " until " + event.until();
        String ofPlan = event.change().isEmpty() ? "" : event.change() + ": ";
        return "Rate limit '" + event.limitName() + "': "
                + switch (event.kind()) {
                    case OVERRIDDEN -> "overridden" + by + " with " + event.change() + until;
                    case OVERRIDE_ENDED -> ofPlan + "the override has ended";
                    case OVERRIDE_REMOVED -> ofPlan + "the override is removed" + by;
                    case RECONFIGURED -> "the configuration has changed";
                    case GRANTED -> event.change() + " granted to a bucket" + by;
                    case BLOCKED -> "a bucket is blocked" + until + by;
                    case UNBLOCKED -> "a bucket is unblocked" + by;
                    default -> "a bucket is reset" + by;
                };
    }

    static String by(@Nullable String principal) {
        return principal == null ? "" : " by " + principal;
    }

    /**
     * What is known of a reading of the overrides.
     *
     * @param nowMicros the time by the store's clock
     * @param changed the id of what this instance has changed; {@code null}: nothing
     * @param principal the author of that change, if known
     * @param endedHere whether this instance is the one that has removed what had ended
     */
    record Reading(
            long nowMicros,
            @Nullable String changed,
            @Nullable String principal,
            boolean endedHere) {}
}
