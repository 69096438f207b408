package io.ratelimit.change;

import io.ratelimit.LimitNames;
import io.ratelimit.RateLimitChangedEvent;
import io.ratelimit.RateLimitChangedEvent.Kind;
import io.ratelimit.RateLimitConfigurationException;
import io.ratelimit.RateLimitOverride;
import io.ratelimit.RateLimitStatus.ActiveOverride;
import io.ratelimit.limiter.EffectiveLimit;
import java.lang.System.Logger.Level;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The overrides that apply to the limits of this instance. Applies others, and tells the log and the listeners what has
 * changed. Its owner lets one thread at a time in; only the listeners are added, and told of changes of buckets, by any thread.
 */
final class AppliedOverrides {

    private static final System.Logger logger = System.getLogger("io.ratelimit");

    /** What applies to each limit and plan, or would if it were valid. */
    private final Map<Target, Applied> applied = new HashMap<>();

    private final CopyOnWriteArrayList<ChangeListener> listeners = new CopyOnWriteArrayList<>();

    private volatile boolean listenerFailed;

    void addListener(ChangeListener listener) {
        listeners.addIfAbsent(listener);
    }

    /**
     * Applies overrides to these limits, and forgets others.
     *
     * @param overrides by the {@linkplain Target#id id} of what they are for
     * @param now the time by the store's clock, in microseconds
     * @param changed the id of what this instance has changed; {@code null}: none
     * @param principal the author of that change, if known
     * @param endedHere whether this instance is the one that has removed what had ended
     */
    void applyAll(
            Collection<EffectiveLimit> limits,
            Map<String, StoredOverride> overrides,
            long now,
            @Nullable String changed,
            @Nullable String principal,
            boolean endedHere) {
        List<Target> targets = limits.stream().flatMap(Target::of).toList();
        applied.keySet().retainAll(new HashSet<>(targets));
        for (Target target : targets) {
            String id = target.id();
            StoredOverride wanted = overrides.get(id);
            if (wanted != null && wanted.endMicros() != 0 && wanted.endMicros() <= now) {
                wanted = null;
            }
            Applied present = applied.get(target);
            if (wanted == null ? present != null : present == null || present.stored.version() != wanted.version()) {
                apply(target, present, wanted, id.equals(changed), principal, now, endedHere);
            }
        }
    }

    /** Forgets what applies to limits whose configuration has changed, and tells of the change. */
    void reconfigured(List<EffectiveLimit> limits) {
        for (EffectiveLimit limit : limits) {
            applied.keySet().removeIf(target -> target.limit.equals(limit));
            publish(limit, new RateLimitChangedEvent(limit.name(), Kind.RECONFIGURED, "", null, null, true));
        }
    }

    private void apply(
            Target target,
            @Nullable Applied present,
            @Nullable StoredOverride wanted,
            boolean here,
            @Nullable String principal,
            long now,
            boolean endedHere) {
        EffectiveLimit limit = target.limit;
        if (wanted == null) {
            applied.remove(target);
            limit.override(target.plan, null);
            StoredOverride last = present == null ? null : present.stored;
            boolean ended = !here && last != null && last.endMicros() != 0 && last.endMicros() <= now;
            publish(
                    limit,
                    new RateLimitChangedEvent(
                            limit.name(),
                            ended ? Kind.OVERRIDE_ENDED : Kind.OVERRIDE_REMOVED,
                            target.plan == null ? "" : "plan " + target.plan,
                            null,
                            here ? principal : null,
                            here || (ended && endedHere)));
            return;
        }
        String problem = null;
        try {
            limit.override(target.plan, attributes(wanted));
        } catch (RuntimeException ex) {
            problem = ex.getMessage();
            limit.override(target.plan, null);
        }
        applied.put(target, new Applied(wanted, problem));
        if (problem != null) {
            logger.log(
                    Level.WARNING,
                    "The override of rate limit ''{0}'' is invalid on this instance ({1}); applying the configured limit",
                    target.plan == null ? limit.name() : limit.name() + "/" + target.plan,
                    problem);
            return;
        }
        publish(
                limit,
                new RateLimitChangedEvent(
                        limit.name(),
                        Kind.OVERRIDDEN,
                        (target.plan == null ? "" : "plan " + target.plan + ": ") + wanted.attributes(),
                        wanted.until(),
                        wanted.principal(),
                        here));
    }

    private static RateLimitOverride attributes(StoredOverride stored) {
        RateLimitOverride attributes = stored.attributes();
        if (attributes == null) {
            throw new RateLimitConfigurationException(
                    "the override must be readable.", "A newer version of the starter may have written it.");
        }
        return attributes;
    }

    private void publish(EffectiveLimit limit, RateLimitChangedEvent event) {
        logger.log(Level.INFO, describe(event) + "; now " + limit.get());
        tell(event);
    }

    /** Tells the listeners of a change. */
    void tell(RateLimitChangedEvent event) {
        for (ChangeListener listener : listeners) {
            try {
                listener.onChange(event);
            } catch (RuntimeException ex) {
                if (!listenerFailed) {
                    listenerFailed = true;
                    logger.log(
                            Level.WARNING,
                            "A listener of changes of rate limits failed; its further failures are not logged",
                            ex);
                }
            }
        }
    }

    private static String describe(RateLimitChangedEvent event) {
        String by = event.principal() == null ? "" : " by " + event.principal();
        String until = event.until() == null ? "" : " until " + event.until();
        return "Rate limit '" + event.limitName() + "': "
                + switch (event.kind()) {
                    case OVERRIDDEN -> "overridden" + by + " with " + event.change() + until;
                    case OVERRIDE_ENDED -> of(event) + "the override has ended";
                    case RECONFIGURED -> "the configuration has changed";
                    default -> of(event) + "the override is removed" + by;
                };
    }

    private static String of(RateLimitChangedEvent event) {
        return event.change().isEmpty() ? "" : event.change() + ": ";
    }

    /** Returns the override of a limit, or of one of its plans, as this instance knows it, or {@code null}. */
    @Nullable
    ActiveOverride find(EffectiveLimit limit, @Nullable String plan) {
        Applied present = applied.get(new Target(limit, plan));
        if (present == null) {
            return null;
        }
        StoredOverride stored = present.stored;
        RateLimitOverride attributes = stored.attributes();
        return new ActiveOverride(
                attributes == null ? RateLimitOverride.builder().build() : attributes,
                stored.version(),
                stored.until(),
                stored.principal(),
                present.problem);
    }

    /**
     * What an override is for.
     *
     * @param plan the id of a plan; {@code null}: callers without one
     */
    record Target(EffectiveLimit limit, @Nullable String plan) {

        /** Returns the limit before its plans, because a plan is valid by the numbers of its limit. */
        static Stream<Target> of(EffectiveLimit limit) {
            return Stream.concat(
                    Stream.of(new Target(limit, null)),
                    limit.configured().plans().keySet().stream()
                            .map(name -> new Target(limit, LimitNames.canonical(name))));
        }

        /** Returns the name that the override is stored under. No limit has a slash in its name. */
        String id() {
            String ofLimit = limit.get().id();
            return plan == null ? ofLimit : ofLimit + "/" + plan;
        }
    }

    private record Applied(StoredOverride stored, @Nullable String problem) {}
}
