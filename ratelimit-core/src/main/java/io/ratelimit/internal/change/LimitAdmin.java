package io.ratelimit.internal.change;

import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitAdmin;
import io.ratelimit.RateLimitConfigurationException;
import io.ratelimit.RateLimitConflictException;
import io.ratelimit.RateLimitOverride;
import io.ratelimit.RateLimitStatus;
import io.ratelimit.RateLimitStatus.ActiveOverride;
import io.ratelimit.RateLimitStatus.Origin;
import io.ratelimit.RateLimitStatus.Source;
import io.ratelimit.RateLimitStoreException;
import io.ratelimit.event.RateLimitChangedEvent;
import io.ratelimit.event.RateLimitChangedEvent.Kind;
import io.ratelimit.internal.concurrent.BoundedWait;
import io.ratelimit.internal.concurrent.Continuations;
import io.ratelimit.internal.concurrent.Futures;
import io.ratelimit.internal.limit.DurationText;
import io.ratelimit.internal.limit.LimitNames;
import io.ratelimit.internal.limiter.EffectiveLimit;
import io.ratelimit.internal.limiter.LimitCatalog;
import io.ratelimit.internal.limiter.LimitState;
import io.ratelimit.internal.limiter.StoredOverride;
import io.ratelimit.internal.limiter.UnknownLimitException;
import io.ratelimit.spi.Charge;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Changes the limits of one catalog by overrides that a synchronizer stores.
 *
 * @param mustNotBlock whether the current thread must not block
 * @param plan the id of a plan; {@code null}: callers without one
 */
public record LimitAdmin(
        LimitCatalog catalog,
        OverrideSynchronizer synchronizer,
        BucketUpdater buckets,
        BooleanSupplier mustNotBlock,
        LimitAdmin.Origins properties,
        Continuations continuations,
        @Nullable String principal,
        @Nullable String plan)
        implements RateLimitAdmin {

    private static final System.Logger logger = System.getLogger("io.ratelimit");

    private static final Duration SHORTEST = Duration.ofMillis(1);

    /** The longest duration, so that all times are exact in integers below 2^53. */
    private static final Duration LONGEST = Duration.ofDays(3_650);

    /** The longest time that a caller waits, which the store normally ends earlier. */
    static final Duration PATIENCE = Duration.ofSeconds(5);

    private static final int LONGEST_PRINCIPAL = 200;

    /** Finds where a property is set. */
    @FunctionalInterface
    public interface Origins {

        /** Returns the origin of the property with its place, or {@code null} if it is not set. */
        @Nullable
        Origin of(String property);
    }

    public LimitAdmin(
            LimitCatalog catalog,
            OverrideSynchronizer synchronizer,
            BucketUpdater buckets,
            BooleanSupplier mustNotBlock,
            Origins properties) {
        this(catalog, synchronizer, buckets, mustNotBlock, properties, new Continuations(), null, null);
    }

    private LimitAdmin with(@Nullable String author, @Nullable String ofPlan) {
        return new LimitAdmin(catalog, synchronizer, buckets, mustNotBlock, properties, continuations, author, ofPlan);
    }

    @Override
    public RateLimitAdmin as(String author) {
        String printable = author.replaceAll("\\p{Cntrl}", "?");
        return with(printable.substring(0, Math.min(printable.length(), LONGEST_PRINCIPAL)), plan);
    }

    @Override
    public RateLimitAdmin forPlan(String name) {
        return with(principal, LimitNames.canonical(name));
    }

    @Override
    public RateLimitStatus status(String limit) {
        return status(find(limit));
    }

    private RateLimitStatus status(EffectiveLimit limit) {
        LimitState state = limit.state();
        RateLimit configured = state.configured();
        Map<String, RateLimitStatus> plans = new HashMap<>();
        for (Map.Entry<String, RateLimit> each : state.effective().plans().entrySet()) {
            String id = LimitNames.canonical(each.getKey());
            RateLimit effective = each.getValue();
            RateLimit before = configured.plans().getOrDefault(each.getKey(), effective);
            RateLimitStatus ofPlan = status(state, id, before, effective, Map.of());
            if (id.equals(plan)) {
                return ofPlan;
            }
            plans.put(each.getKey(), ofPlan);
        }
        return status(state, LimitState.OF_LIMIT, configured, state.effective(), plans);
    }

    private RateLimitStatus status(
            LimitState state,
            String ofPlan,
            RateLimit configured,
            RateLimit effective,
            Map<String, RateLimitStatus> plans) {
        Map<String, Origin> origins = new HashMap<>(effective.definition().origins());
        origins.replaceAll((attribute, origin) -> withPlace(origin, configured.name()));
        return new RateLimitStatus(configured, effective, override(state, ofPlan), origins, plans);
    }

    private static @Nullable ActiveOverride override(LimitState state, String ofPlan) {
        StoredOverride stored = state.overrides().get(ofPlan);
        if (stored == null) {
            return null;
        }
        RateLimitOverride attributes = stored.attributes();
        return new ActiveOverride(
                attributes == null ? RateLimitOverride.builder().build() : attributes,
                stored.version(),
                stored.until(),
                stored.principal(),
                state.problem());
    }

    private Origin withPlace(Origin origin, String limit) {
        if (origin.source() == Source.DECLARATION) {
            return new Origin(Source.DECLARATION, catalog.place(limit).orElse(""));
        }
        if (origin.source() == Source.CONFIGURATION) {
            Origin found = properties.of(origin.place());
            return found == null ? new Origin(Source.DEFAULT, "") : found;
        }
        return origin;
    }

    @Override
    public RateLimitStatus override(String limit, RateLimitOverride override, long expectedVersion) {
        checkMayBlock();
        return BoundedWait.get(write(find(limit), override, expectedVersion), PATIENCE);
    }

    @Override
    public CompletionStage<RateLimitStatus> overrideAsync(
            String limit, RateLimitOverride override, long expectedVersion) {
        return continuations.apart(Futures.start(() -> write(find(limit), override, expectedVersion)));
    }

    @Override
    public RateLimitStatus removeOverride(String limit, long expectedVersion) {
        checkMayBlock();
        return BoundedWait.get(write(find(limit), null, expectedVersion), PATIENCE);
    }

    @Override
    public CompletionStage<RateLimitStatus> removeOverrideAsync(String limit, long expectedVersion) {
        return continuations.apart(Futures.start(() -> write(find(limit), null, expectedVersion)));
    }

    @Override
    public Bucket bucket(String limit, String key) {
        EffectiveLimit known = find(limit);
        var unused = Charge.keyed(known.get(), key, 0);
        return new BucketAdmin(this, known, key);
    }

    @Override
    public Bucket bucket(String limit) {
        return new BucketAdmin(this, find(limit), null);
    }

    /** Returns the limit that applies now to callers with the plan. */
    RateLimit numbers(EffectiveLimit limit) {
        return plan == null ? limit.get() : limit.plan(plan);
    }

    private CompletionStage<RateLimitStatus> write(
            EffectiveLimit limit, @Nullable RateLimitOverride next, long expectedVersion) {
        String ofPlan = plan == null ? LimitState.OF_LIMIT : plan;
        if (next != null) {
            check(next);
            limit.check(ofPlan, next);
        }
        String id = OverrideEvents.id(limit.get(), ofPlan);
        return synchronizer.write(id, next, principal, expectedVersion).handle((reply, thrown) -> {
            if (thrown != null) {
                throw failure(limit, next, thrown);
            }
            if (reply.result() == OverrideSnapshot.Result.CONFLICT) {
                throw new RateLimitConflictException(limit.name(), expectedVersion, reply.presentVersion());
            }
            return status(limit);
        });
    }

    /** Logs and publishes a change whose answer was lost: if it is made, no instance knows that it was made here. */
    private CompletionException failure(EffectiveLimit limit, @Nullable RateLimitOverride next, Throwable thrown) {
        if (!(Futures.unwrap(thrown) instanceof RateLimitStoreException failure) || !BucketUpdater.mayBeMade(failure)) {
            return Futures.wrap(thrown);
        }
        String name = limit.get().name();
        String change = (plan == null ? "" : "plan " + plan + ": ")
                + (next == null ? "removal of the override" : "override with " + next);
        logger.log(
                Level.WARNING,
                "Rate limit '" + name + "': no answer to a change" + OverrideEvents.by(principal) + ": "
                        + change + " (" + failure.getMessage()
                        + "); Redis may still make it. If it does, a line of every instance follows.");
        synchronizer.tell(new RateLimitChangedEvent(name, Kind.UNCONFIRMED, change, null, principal, true));
        return new CompletionException(new RateLimitStoreException(
                failure.getReason(),
                failure.getMessage()
                        + ". The answer was lost, and Redis may still make the change. Read the limit when Redis answers.",
                failure));
    }

    private void check(RateLimitOverride override) {
        Duration duration = override.duration();
        if (override.isEmpty()) {
            throw new RateLimitConfigurationException(
                    "an override must set an attribute.",
                    "Set a capacity or a rate, for example, or remove the override.");
        }
        if (duration != null && (duration.compareTo(SHORTEST) < 0 || duration.compareTo(LONGEST) > 0)) {
            throw new RateLimitConfigurationException(
                    "duration must be from 1ms to 3650d (was " + DurationText.of(duration) + ").",
                    "Write it like \"1h\", or leave it out for an override that does not end by itself.");
        }
        if (plan != null && override.onStoreFailure() != null) {
            throw new RateLimitConfigurationException(
                    "onStoreFailure must not be set for a plan (was " + override.onStoreFailure() + ").",
                    "It is the same for all plans: override it for the limit.");
        }
    }

    /** Finds a limit that has the plan. */
    private EffectiveLimit find(String name) {
        EffectiveLimit limit = catalog.require(name);
        RateLimit configured = limit.configured();
        if (plan != null && !LimitState.hasPlan(configured, plan)) {
            throw new UnknownLimitException("Limit '" + configured.name() + "' has no plan '" + plan + "'"
                    + LimitNames.suggestion(plan, configured.plans().keySet()));
        }
        return limit;
    }

    void checkMayBlock() {
        if (mustNotBlock.getAsBoolean()) {
            throw new IllegalStateException("RateLimitAdmin was called on thread "
                    + Thread.currentThread().getName()
                    + ", which must not block, because many calls share it. Call a method whose name ends with Async, or call"
                    + " it on a thread that may block.");
        }
    }
}
