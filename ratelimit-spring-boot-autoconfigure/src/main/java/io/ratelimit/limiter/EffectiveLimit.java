package io.ratelimit.limiter;

import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitConfigurationException;
import io.ratelimit.RateLimitOverride;
import io.ratelimit.RateLimitSettings;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Holds the limit that applies now: as configured, or with an override. A call reads it once. What is derived from it is
 * derived again when it changes.
 */
public final class EffectiveLimit {

    private final String name;

    private volatile RateLimit configured;

    private volatile RateLimit effective;

    /** That of {@link #effective}; {@code null}: none. */
    private @Nullable RateLimitOverride override;

    private final List<Consumer<RateLimit>> checks = new CopyOnWriteArrayList<>();

    private final List<Runnable> listeners = new CopyOnWriteArrayList<>();

    EffectiveLimit(RateLimit configured) {
        this.name = configured.name();
        this.configured = configured;
        this.effective = configured;
    }

    /** Returns the name as declared, which does not change. */
    public String name() {
        return name;
    }

    /** Returns the limit that applies now. */
    public RateLimit get() {
        return effective;
    }

    /** Returns the limit without the override. */
    public RateLimit configured() {
        return configured;
    }

    /**
     * Adds a check that throws a {@link RateLimitConfigurationException} if a limit cannot apply where this one does. It is not
     * called for the present limit.
     */
    public void addCheck(Consumer<RateLimit> check) {
        checks.add(check);
    }

    /** Adds a listener that is called after each change. */
    public void addListener(Runnable listener) {
        listeners.add(listener);
    }

    /**
     * Returns the limit with an override, which does not apply yet.
     *
     * @throws RateLimitConfigurationException if the limit is invalid with the override
     */
    public RateLimit with(RateLimitOverride candidate) {
        return checked(configured.with(candidate));
    }

    /**
     * Applies an override instead of the present one.
     *
     * @param next {@code null}: none
     * @throws RateLimitConfigurationException if the limit is invalid with it; nothing changes
     */
    public synchronized void override(@Nullable RateLimitOverride next) {
        apply(configured, next, next == null ? configured : with(next));
    }

    /**
     * Applies another configuration, below the present override. If the override is invalid with it, the override does not
     * apply until it is set again.
     *
     * @throws RateLimitConfigurationException if the limit is invalid; nothing changes
     */
    public synchronized void reconfigure(RateLimit next) {
        RateLimit checked = checked(next);
        RateLimitOverride present = override;
        if (present == null) {
            apply(checked, null, checked);
            return;
        }
        RateLimit overridden;
        try {
            overridden = checked(checked.with(present));
        } catch (RateLimitConfigurationException ex) {
            apply(checked, null, checked);
            return;
        }
        apply(checked, present, overridden);
    }

    /**
     * Returns the limit with another configuration, which does not apply yet, or the present one if no attribute differs.
     *
     * @throws RateLimitConfigurationException if it is invalid
     */
    RateLimit with(RateLimitSettings settings) {
        RateLimit candidate = configured.with(settings);
        return candidate.hasAttributesOf(configured) ? configured : checked(candidate);
    }

    private RateLimit checked(RateLimit candidate) {
        checks.forEach(check -> check.accept(candidate));
        return candidate;
    }

    private void apply(RateLimit base, @Nullable RateLimitOverride applied, RateLimit next) {
        boolean changes = next != effective;
        configured = base;
        override = applied;
        effective = next;
        if (changes) {
            listeners.forEach(Runnable::run);
        }
    }
}
