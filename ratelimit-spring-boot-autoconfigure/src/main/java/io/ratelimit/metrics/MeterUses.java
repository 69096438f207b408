package io.ratelimit.metrics;

import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import java.lang.ref.WeakReference;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.WeakHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.DoubleSupplier;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Knows how many contexts use each meter of a registry, because contexts can share a registry that outlives them. Holds neither
 * the registry nor a context.
 */
final class MeterUses {

    private static final Map<MeterRegistry, MeterUses> OF_REGISTRIES = new WeakHashMap<>();

    private final Map<Meter.Id, Use> uses = new HashMap<>();

    private MeterUses() {}

    static MeterUses of(MeterRegistry registry) {
        synchronized (OF_REGISTRIES) {
            return OF_REGISTRIES.computeIfAbsent(registry, unknown -> new MeterUses());
        }
    }

    /** Registers a meter for one more context. */
    synchronized <M extends Meter> M add(Meter.Id id, Supplier<M> registration) {
        M meter = registration.get();
        uses.computeIfAbsent(id, unknown -> new Use(meter.getId())).contexts++;
        return meter;
    }

    /** Registers a gauge for one more context. It shows the value of the first of them that is open. */
    synchronized void addGauge(Meter.Id id, DoubleSupplier value, Function<WeakValues, ? extends Meter> registration) {
        Use use = uses.get(id);
        if (use == null) {
            WeakValues values = new WeakValues();
            use = new Use(registration.apply(values).getId(), values);
            uses.put(id, use);
        }
        use.contexts++;
        use.values.add(value);
    }

    /**
     * Ends the use of a context.
     *
     * @param value that of a gauge
     * @return the meter to remove, because no other context uses it
     */
    synchronized Meter.@Nullable Id remove(Meter.Id id, @Nullable DoubleSupplier value) {
        Use use = uses.get(id);
        if (use == null) {
            return null;
        }
        use.values.remove(value);
        if (--use.contexts > 0) {
            return null;
        }
        uses.remove(id);
        return use.registered;
    }

    /** Values of contexts, which hold them. */
    static final class WeakValues {

        private final List<WeakReference<DoubleSupplier>> values = new CopyOnWriteArrayList<>();

        private void add(DoubleSupplier value) {
            values.add(new WeakReference<>(value));
        }

        private void remove(@Nullable DoubleSupplier value) {
            values.removeIf(reference -> reference.refersTo(value));
        }

        double first() {
            for (WeakReference<DoubleSupplier> reference : values) {
                DoubleSupplier value = reference.get();
                if (value != null) {
                    return value.getAsDouble();
                }
            }
            return Double.NaN;
        }
    }

    private static final class Use {

        /** As the registry knows it, whose filters can rename meters. */
        private final Meter.Id registered;

        private final WeakValues values;

        private int contexts;

        Use(Meter.Id registered) {
            this(registered, new WeakValues());
        }

        Use(Meter.Id registered, WeakValues values) {
            this.registered = registered;
            this.values = values;
        }
    }
}
