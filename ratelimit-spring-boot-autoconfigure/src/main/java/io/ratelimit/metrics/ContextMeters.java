package io.ratelimit.metrics;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.noop.NoopCounter;
import io.micrometer.core.instrument.noop.NoopTimer;
import java.lang.System.Logger.Level;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.DoubleSupplier;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Registers the meters of one application context, and removes them when it is closed. Never throws: a meter that cannot be
 * registered measures nothing.
 */
public final class ContextMeters implements AutoCloseable {

    private static final System.Logger logger = System.getLogger("io.ratelimit.metrics");

    private final MeterRegistry registry;

    private final MeterUses uses;

    private final List<Registration> registrations = new ArrayList<>();

    private final AtomicBoolean warned = new AtomicBoolean();

    private boolean closed;

    public ContextMeters(MeterRegistry registry) {
        this.registry = registry;
        this.uses = MeterUses.of(registry);
    }

    Counter counter(String name, @Nullable String unit, String description, Tags tags) {
        Meter.Id id = new Meter.Id(name, tags, unit, description, Meter.Type.COUNTER);
        return register(
                id,
                () -> Counter.builder(name)
                        .tags(tags)
                        .baseUnit(unit)
                        .description(description)
                        .register(registry),
                NoopCounter::new);
    }

    Timer timer(String name, String description, Tags tags) {
        Meter.Id id = new Meter.Id(name, tags, null, description, Meter.Type.TIMER);
        return register(
                id,
                () -> Timer.builder(name).tags(tags).description(description).register(registry),
                NoopTimer::new);
    }

    /** @param value held as long as the context is open; the registry holds it weakly */
    synchronized void gauge(String name, @Nullable String unit, String description, Tags tags, DoubleSupplier value) {
        if (closed) {
            return;
        }
        Meter.Id id = new Meter.Id(name, tags, unit, description, Meter.Type.GAUGE);
        try {
            uses.addGauge(
                    id,
                    value,
                    values -> Gauge.builder(name, values, MeterUses.WeakValues::first)
                            .tags(tags)
                            .baseUnit(unit)
                            .description(description)
                            .register(registry));
            registrations.add(new Registration(id, value));
        } catch (RuntimeException ex) {
            warn(ex);
        }
    }

    private synchronized <M extends Meter> M register(
            Meter.Id id, Supplier<M> registration, Function<Meter.Id, M> absent) {
        if (closed) {
            return absent.apply(id);
        }
        try {
            M meter = uses.add(id, registration);
            registrations.add(new Registration(id, null));
            return meter;
        } catch (RuntimeException ex) {
            warn(ex);
            return absent.apply(id);
        }
    }

    /** Returns the time by the clock of the registry, in nanoseconds, for differences. */
    long nanos() {
        return registry.config().clock().monotonicTime();
    }

    /** Logs the first failure of a meter. */
    void warn(RuntimeException failure) {
        if (warned.compareAndSet(false, true)) {
            logger.log(Level.WARNING, "A meter failed; its further failures are not logged", failure);
        }
    }

    @Override
    public synchronized void close() {
        closed = true;
        for (Registration registration : registrations) {
            try {
                Meter.Id unused = uses.remove(registration.id, registration.value);
                if (unused != null) {
                    registry.remove(unused);
                }
            } catch (RuntimeException ex) {
                warn(ex);
            }
        }
        registrations.clear();
    }

    /** @param value that of a gauge */
    private record Registration(Meter.Id id, @Nullable DoubleSupplier value) {}
}
