package io.ratelimit.metrics;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.lang.ref.Reference;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.DoubleSupplier;
import org.junit.jupiter.api.Test;

class MeterUsesTests {

    private final MeterRegistry registry = new SimpleMeterRegistry();

    /** A registry can outlive a context that is never closed. */
    @Test
    void gaugeDoesNotKeepWhatItMeasures() {
        addGaugeOfSeven();
        await().atMost(Duration.ofSeconds(60)).until(() -> {
            System.gc();
            return Double.isNaN(value());
        });
    }

    private void addGaugeOfSeven() {
        AtomicInteger seven = new AtomicInteger(7);
        DoubleSupplier measured = seven::get;
        Meter.Id id = new Meter.Id("gauge", Tags.empty(), null, null, Meter.Type.GAUGE);
        MeterUses.of(registry)
                .addGauge(
                        id,
                        measured,
                        values -> Gauge.builder("gauge", values, MeterUses.WeakValues::first)
                                .register(registry));
        try {
            assertThat(value()).isEqualTo(7);
        } finally {
            Reference.reachabilityFence(measured);
        }
    }

    private double value() {
        return registry.get("gauge").gauge().value();
    }
}
