package io.ratelimit.internal.limiter;

import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitConfigurationException;
import io.ratelimit.RateLimitOverride;
import io.ratelimit.RateLimitPlan;
import java.lang.System.Logger.Level;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Holds the limit that applies now, with its plans: as configured, or with overrides. A call reads it once. What is derived from
 * it is derived again when it changes.
 */
public final class EffectiveLimit {

    private static final System.Logger logger = System.getLogger("io.ratelimit");

    private final String name;

    private final PlanMistakes mistakes = new PlanMistakes();

    private volatile LimitState state;

    /** What would apply if no call had other limits, too. What does is checked beside that of the others, in whatever order. */
    private volatile LimitState alone;

    /** Made when a plan is looked up, for the limit of that time. */
    private volatile @Nullable PlanLimits plans;

    /** All that are in force, also those of plans that only other instances have. */
    private Map<String, StoredOverride> overrides = Map.of();

    /** Whether each listener knows the present limit. */
    private boolean told = true;

    private final List<Consumer<RateLimit>> checks = new CopyOnWriteArrayList<>();

    private final List<JointLimits> calls = new CopyOnWriteArrayList<>();

    private final List<Runnable> listeners = new CopyOnWriteArrayList<>();

    EffectiveLimit(RateLimit configured) {
        this.name = configured.name();
        this.state = new LimitState(configured, Map.of(), configured, null);
        this.alone = state;
    }

    /** Returns the name as declared, which does not change. */
    public String name() {
        return name;
    }

    /** Returns the limit that applies now, to callers without a plan. */
    public RateLimit get() {
        return state.effective();
    }

    /** Returns what applies now, and why. */
    public LimitState state() {
        return state;
    }

    /** Returns the limit that applies now to callers with a plan; that of others if there is no such plan. */
    public RateLimit plan(String plan) {
        return plans().of(plan);
    }

    /** Returns the limit that applies now to callers with a plan, which may have numbers of its own. */
    public RateLimit plan(RateLimitPlan plan) {
        return plans().of(plan);
    }

    /** Returns the limit that applies now to callers with the plan of a limit that has applied to them before. */
    RateLimit present(RateLimit known) {
        String plan = known.plan();
        RateLimitPlan ofCode = known.definition().numbers();
        if (plan == null) {
            return get();
        }
        return ofCode == null ? plan(plan) : plan(ofCode);
    }

    private PlanLimits plans() {
        RateLimit limit = get();
        PlanLimits known = plans;
        if (known == null || known.limit() != limit) {
            known = new PlanLimits(limit, mistakes, this::checkJointly);
            plans = known;
        }
        return known;
    }

    /** Returns the limit without the override. */
    public RateLimit configured() {
        return state.configured();
    }

    /**
     * Adds a check that throws a {@link RateLimitConfigurationException} if a limit cannot apply where this one does. It is called
     * for the present limit and its plans, and before each change.
     *
     * @param owner the catalog of the context that adds it, which may be a child of that of the limit. It ends with its context
     * @throws RateLimitConfigurationException if the present limit cannot apply there
     */
    public void addCheck(LimitCatalog owner, Consumer<RateLimit> check) {
        get().withPlans().forEach(check);
        add(owner, checks, check);
    }

    /**
     * Adds the limits of a call that this one is on.
     *
     * @see #addCheck
     */
    void join(LimitCatalog owner, JointLimits call) {
        add(owner, calls, call);
    }

    /**
     * Adds a listener that is called after each change.
     *
     * @see #addCheck
     */
    public void addListener(LimitCatalog owner, Runnable listener) {
        add(owner, listeners, listener);
    }

    private static <T> void add(LimitCatalog owner, List<T> all, T added) {
        all.add(added);
        owner.onClose(() -> all.remove(added));
    }

    /**
     * Checks an override, which does not apply yet, beside the present ones of the limit and its plans.
     *
     * @param plan the id of the plan that the override is for, or {@link LimitState#OF_LIMIT}
     * @throws RateLimitConfigurationException if the limit or one of its plans is invalid with it
     */
    public void check(String plan, RateLimitOverride candidate) {
        LimitState present = state;
        Map<String, StoredOverride> next = new HashMap<>(present.overrides());
        next.put(plan, new StoredOverride(0, 0, candidate, null));
        checkOverridden(LimitState.effective(present.configured(), next, this::check));
    }

    /**
     * Takes notice of these overrides of the limit and its plans, and no others: {@link #apply} applies them. Whatever happens, it
     * throws nothing.
     *
     * @param next by the id of the plan, or {@link LimitState#OF_LIMIT}
     */
    public synchronized void expect(Map<String, StoredOverride> next) {
        overrides = next;
        alone = alone.next(state.configured(), next, this::check);
    }

    /**
     * Applies these overrides. The other limits of its calls {@linkplain #expect expect} theirs already.
     *
     * @return what applied before
     */
    public synchronized LimitState apply(Map<String, StoredOverride> next) {
        expect(next);
        return update();
    }

    /** Applies another configuration, below the present overrides. */
    synchronized void reconfigure(RateLimit next) {
        alone = alone.next(next, overrides, this::check);
        var unused = update();
    }

    /**
     * Applies another declaration, below the present overrides.
     *
     * @throws RateLimitConfigurationException if it is invalid; nothing changes
     */
    void redeclare(RateLimit next) {
        next.withPlans().forEach(this::check);
        checkCalls(limit -> limit == this ? next : limit.configured());
        reconfigure(next);
    }

    /**
     * Returns the limit with another configuration, which does not apply yet, or the present one if no attribute differs.
     *
     * @throws RateLimitConfigurationException if it is invalid
     */
    RateLimit with(RateLimitSettings settings) {
        RateLimit configured = configured();
        RateLimit candidate = settings.apply(configured);
        if (candidate.definition().isSetAs(configured.definition())) {
            return configured;
        }
        candidate.withPlans().forEach(this::check);
        return candidate;
    }

    private void check(RateLimit candidate) {
        checks.forEach(check -> check.accept(candidate));
    }

    private void checkJointly(RateLimit candidate) {
        check(candidate);
        checkCalls(limit -> limit == this ? candidate : limit.get());
    }

    private void checkOverridden(RateLimit candidate) {
        checkCalls(limit -> limit == this ? candidate : limit.alone.effective());
    }

    /**
     * Checks this limit beside the others of its calls.
     *
     * @param numbers returns what would apply to a limit
     */
    void checkCalls(Function<EffectiveLimit, RateLimit> numbers) {
        calls.forEach(call -> call.check(this, numbers));
    }

    private LimitState update() {
        LimitState before = state;
        LimitState next = alone.among(this::checkOverridden);
        state = next;
        if (next.effective() != before.effective() || !told) {
            // Plans with numbers of their own are checked again, beside the limit as it is now.
            calls.forEach(call -> call.limits().forEach(limit -> limit.plans = null));
            tellListeners();
        }
        return before;
    }

    /** A listener that fails is called again at the next reading of the overrides. */
    private void tellListeners() {
        Level level = told ? Level.WARNING : Level.DEBUG;
        told = true;
        for (Runnable listener : listeners) {
            try {
                listener.run();
            } catch (Throwable ex) {
                told = false;
                logger.log(level, "A listener of rate limit '" + name + "' failed; calling it again", ex);
            }
        }
    }
}
