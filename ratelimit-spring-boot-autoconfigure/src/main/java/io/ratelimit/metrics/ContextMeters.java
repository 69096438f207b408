package io.ratelimit.metrics;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.composite.CompositeMeterRegistry;
import io.ratelimit.internal.concurrent.FirstFailureLog;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.DoubleSupplier;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Registers the meters of one application context, and removes its gauges when it is closed, because they hold the context. Never
 * throws: a meter that cannot be registered measures nothing.
 */
public final class ContextMeters implements AutoCloseable {

    private final MeterRegistry registry;

    /** Has meters that measure nothing. */
    private final MeterRegistry substitute = new CompositeMeterRegistry();

    private final Queue<Meter> gauges = new ConcurrentLinkedQueue<>();

    private final FirstFailureLog failures =
            new FirstFailureLog("io.ratelimit.metrics", "A meter failed; its further failures are not logged");

    public ContextMeters(MeterRegistry registry) {
        this.registry = registry;
    }

    Counter counter(String name, @Nullable String unit, String description, Tags tags) {
        return register(Counter.builder(name).tags(tags).baseUnit(unit).description(description)::register);
    }

    Timer timer(String name, String description, Tags tags) {
        return register(Timer.builder(name).tags(tags).description(description)::register);
    }

    /** Registers a gauge, unless another context has registered the same one. */
    void gauge(String name, @Nullable String unit, String description, Tags tags, DoubleSupplier value) {
        if (registry.find(name).tags(tags).gauge() == null) {
            gauges.add(register(Gauge.builder(name, value::getAsDouble)
                    .tags(tags)
                    .baseUnit(unit)
                    .description(description)::register));
        }
    }

    private <M extends Meter> M register(Function<MeterRegistry, M> registration) {
        try {
            return registration.apply(registry);
        } catch (RuntimeException ex) {
            failures.log(ex);
            return registration.apply(substitute);
        }
    }

    /** Returns the time by the clock of the registry, in nanoseconds, for differences. */
    long nanos() {
        return registry.config().clock().monotonicTime();
    }

    void increment(Counter counter, double amount) {
        try {
            counter.increment(amount);
        } catch (RuntimeException ex) {
            failures.log(ex);
        }
    }

    /** Logs a failure of a meter, if it is the first one. */
    void failed(RuntimeException failure) {
        failures.log(failure);
    }

    @Override
    public void close() {
        try {
            gauges.forEach(registry::remove);
        } catch (RuntimeException ex) {
            failures.log(ex);
        }
    }
}
