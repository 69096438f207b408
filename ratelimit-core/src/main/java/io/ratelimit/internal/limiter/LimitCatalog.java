package io.ratelimit.internal.limiter;

import io.ratelimit.LimitConfiguration;
import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitConfigurationException;
import io.ratelimit.internal.limit.LimitNames;
import java.lang.System.Logger.Level;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Holds all limits by name. Two declarations of the same name must agree, or the startup fails.
 *
 * <p>A child context has its own catalog over that of its parent: it knows the limits of both. What the configuration names,
 * and nothing declares, is a mistake only in the last context.
 */
public final class LimitCatalog implements AutoCloseable {

    private static final System.Logger logger = System.getLogger("io.ratelimit");

    private volatile RateLimitSettings settings;

    private final @Nullable LimitCatalog parent;

    private final BooleanSupplier partial;

    private final Map<String, Declaration> declarations = new LinkedHashMap<>();

    private final List<Consumer<EffectiveLimit>> listeners = new ArrayList<>();

    private final Queue<Runnable> ends = new ConcurrentLinkedQueue<>();

    /** Properties that this context or one below it has applied. */
    private final Set<String> applied = ConcurrentHashMap.newKeySet();

    /**
     * Creates a catalog.
     *
     * @param parent that of the parent context; {@code null} if there is none
     * @param partial whether the context is not the last one that can apply what the configuration names
     */
    public LimitCatalog(RateLimitSettings settings, @Nullable LimitCatalog parent, BooleanSupplier partial) {
        this.settings = settings;
        this.parent = parent;
        this.partial = partial;
    }

    public RateLimitSettings settings() {
        return settings;
    }

    /**
     * Declares the limit of a bean, with the overrides of the configuration.
     *
     * @throws RateLimitConfigurationException if the overrides are invalid or the name is taken
     */
    public RateLimit declare(RateLimit limit, String place) {
        try {
            return declare(settings.apply(limit), place, true).get();
        } catch (RateLimitConfigurationException ex) {
            throw ex.at(place);
        }
    }

    /**
     * Declares a limit, or returns the declared one that it agrees with.
     *
     * @param place the method, bean or property that declares it, for messages
     * @param named whether the name is explicit: only then may several declarations share the limit
     */
    public synchronized EffectiveLimit declare(RateLimit limit, String place, boolean named) {
        String key = LimitNames.canonical(limit.name());
        Declaration known = declarations.get(key);
        Declaration shared = known != null || parent == null ? known : parent.ofCode(key);
        if (known != null && isConfigured(known)) {
            declarations.put(key, takeOver(known.limit, limit, place, named));
        } else if (shared != null && !shared.place.equals(place)) {
            checkShared(shared, limit, place, named);
        }
        EffectiveLimit declared = shared == null ? new EffectiveLimit(limit) : shared.limit;
        if (known == null) {
            declarations.put(key, new Declaration(declared, place, named));
            listeners.forEach(listener -> listener.accept(declared));
        }
        return declared;
    }

    /** Returns the declaration of this or a parent context, unless the configuration declares the limit alone. */
    private synchronized @Nullable Declaration ofCode(String key) {
        Declaration own = declarations.get(key);
        return own != null && !isConfigured(own) ? own : parent == null ? null : parent.ofCode(key);
    }

    /** Lets a declaration that the start-up has not found, of a bean that is created late, take over a limit of the properties alone. */
    private static Declaration takeOver(EffectiveLimit known, RateLimit limit, String place, boolean named) {
        RateLimit before = known.configured();
        known.redeclare(limit);
        if (!limit.agreesWith(before)) {
            logger.log(
                    Level.WARNING,
                    "Rate limit '" + limit.name() + "' is declared by " + place
                            + ", which the start-up did not find; until now, its properties applied alone. Let the @Bean method"
                            + " of a bean that is created late return the annotated class.");
        }
        return new Declaration(known, place, named);
    }

    private static void checkShared(Declaration known, RateLimit limit, String place, boolean named) {
        if (!named || !known.named) {
            throw new RateLimitConfigurationException(
                            "the default name '" + limit.name() + "' is also the name of the limit of " + known.place
                                    + ".",
                            "Give each its own name, or both the same explicit name to share the limit.")
                    .at(place);
        }
        RateLimit declared = known.limit.configured();
        if (!declared.agreesWith(limit)) {
            throw new RateLimitConfigurationException(
                            "name '" + limit.name() + "' is declared as " + limit + ", but " + known.place
                                    + " declares it as " + declared + ".",
                            "Give both the same numbers, or one of them another name.")
                    .at(place);
        }
    }

    /** Adds a listener of the limits of this context: those declared so far, and those that are declared later. */
    public synchronized void addListener(Consumer<EffectiveLimit> listener) {
        effective().forEach(listener);
        listeners.add(listener);
    }

    /** Returns the limit of this name that applies now. */
    public Optional<RateLimit> find(String name) {
        return effective(name).map(EffectiveLimit::get);
    }

    /** Returns the holder of the limit of this name. */
    public Optional<EffectiveLimit> effective(String name) {
        return declaration(name).map(Declaration::limit);
    }

    private synchronized Optional<Declaration> declaration(String name) {
        Optional<Declaration> own = Optional.ofNullable(declarations.get(LimitNames.canonical(name)));
        return parent == null ? own : own.or(() -> parent.declaration(name));
    }

    /**
     * Returns the holder of the limit of this name.
     *
     * @throws UnknownLimitException if there is none; the message suggests the most similar name
     */
    public EffectiveLimit require(String name) {
        return effective(name).orElseThrow(() -> new UnknownLimitException(unknown(name)));
    }

    String unknown(String name) {
        return "There is no limit '" + name + "'" + LimitNames.suggestion(name, names());
    }

    /** Returns the limits of this context that apply now, without those of its parent. */
    public List<RateLimit> limits() {
        return effective().stream().map(EffectiveLimit::get).toList();
    }

    /** Returns the holders of the limits of this context, without those of its parent. */
    public synchronized List<EffectiveLimit> effective() {
        return declarations.values().stream().map(Declaration::limit).toList();
    }

    /** Returns the method, bean or property that declares the limit of this name. */
    public Optional<String> place(String name) {
        return declaration(name).map(Declaration::place);
    }

    /** Returns the names of all limits, including those of parent contexts. */
    public List<String> names() {
        Stream<String> own = effective().stream().map(EffectiveLimit::name);
        return (parent == null ? own : Stream.concat(own, parent.names().stream()))
                .distinct()
                .toList();
    }

    /** Lists the names in a sentence, for messages. */
    public String known() {
        return names().isEmpty() ? "There are no limits." : "Known limits: " + String.join(", ", names()) + ".";
    }

    /**
     * Returns the limit of this name, and declares it by the configuration alone if necessary.
     *
     * @throws RateLimitConfigurationException if the configuration cannot declare it
     */
    public EffectiveLimit configured(String name) {
        return effective(name).orElseGet(() -> declareConfigured(settings.of(name)));
    }

    /**
     * Declares the limits that only the configuration declares. Called when all other limits are declared.
     *
     * @return these limits
     * @throws RateLimitConfigurationException if overrides refer to a limit that does not exist
     */
    public synchronized List<RateLimit> complete() {
        settings.limits().keySet().stream()
                .filter(name -> settings.of(name).declaresLimit()
                        || !mayBeAppliedElsewhere(settings.of(name).property()))
                .forEach(this::configured);
        limits().forEach(limit -> setApplied(settings.of(limit.name()).property()));
        return declarations.values().stream()
                .filter(this::isConfigured)
                .map(declaration -> declaration.limit.get())
                .toList();
    }

    private boolean isConfigured(Declaration known) {
        return known.place.equals(settings.of(known.limit.name()).property());
    }

    /**
     * Applies another configuration to all limits of this context, or to none. Overrides stay above it, and the number of instances
     * that share a limit is that of the start-up.
     *
     * @return the limits that have changed
     * @throws RateLimitConfigurationException if a limit is invalid with it, or an entry names no limit; nothing changes
     */
    public synchronized List<EffectiveLimit> reconfigure(RateLimitSettings refreshed) {
        RateLimitSettings next = new RateLimitSettings(
                refreshed.defaults(), settings.localShare(), refreshed.limits(), refreshed.customizers());
        next.limits().keySet().stream().map(next::of).forEach(this::checkKnown);
        Map<EffectiveLimit, RateLimit> changes = new LinkedHashMap<>();
        for (Declaration declaration : declarations.values()) {
            EffectiveLimit limit = declaration.limit;
            try {
                RateLimit candidate = limit.with(next);
                if (candidate != limit.configured()) {
                    changes.put(limit, candidate);
                }
            } catch (RateLimitConfigurationException ex) {
                throw ex.at(declaration.place);
            }
        }
        changes.keySet().forEach(limit -> limit.checkCalls(each -> changes.getOrDefault(each, each.configured())));
        settings = next;
        changes.forEach(EffectiveLimit::reconfigure);
        return List.copyOf(changes.keySet());
    }

    /** Has this done when the context is closed, whose parents go on. */
    public void onClose(Runnable end) {
        ends.add(end);
    }

    @Override
    public void close() {
        ends.forEach(Runnable::run);
    }

    /** Records that a property has an effect in this context. */
    public void setApplied(String property) {
        applied.add(property);
        if (parent != null) {
            parent.setApplied(property);
        }
    }

    /**
     * Returns whether a property without an effect in this context may have one in another: a parent, or an earlier or later
     * child of the same parent.
     */
    public boolean mayBeAppliedElsewhere(String property) {
        for (LimitCatalog above = parent; above != null; above = above.parent) {
            if (above.applied.contains(property)) {
                return true;
            }
        }
        return partial.getAsBoolean();
    }

    /** Returns the properties that declare limits at the next start-up, because they were not there at the last one. */
    public synchronized List<String> undeclared() {
        return settings.limits().keySet().stream()
                .map(settings::of)
                .filter(this::isUnknown)
                .map(LimitConfiguration::property)
                .toList();
    }

    /** A limit with a rate that the configuration alone declares needs a restart, and is no mistake. */
    private void checkKnown(LimitConfiguration properties) {
        if (!properties.declaresLimit() && isUnknown(properties)) {
            throw unknown(properties);
        }
    }

    private boolean isUnknown(LimitConfiguration properties) {
        String property = properties.property();
        return effective(properties.limitName()).isEmpty()
                && !applied.contains(property)
                && !mayBeAppliedElsewhere(property);
    }

    private EffectiveLimit declareConfigured(LimitConfiguration properties) {
        if (!properties.declaresLimit()) {
            throw unknown(properties);
        }
        return declare(settings.apply(RateLimit.named(properties.limitName())), properties.property(), true);
    }

    private RateLimitConfigurationException unknown(LimitConfiguration properties) {
        return new RateLimitConfigurationException(
                properties.property() + " must name a declared limit, or have a rate.",
                LimitNames.didYouMean(properties.limitName(), names(), nearest -> "ratelimit.limits." + nearest)
                        + "With a rate, it declares a limit itself. A class that is no bean, such as a Quartz job, declares"
                        + " one as a prototype bean, and a bean that is created late if its @Bean method returns the class. "
                        + known());
    }

    private record Declaration(EffectiveLimit limit, String place, boolean named) {}
}
