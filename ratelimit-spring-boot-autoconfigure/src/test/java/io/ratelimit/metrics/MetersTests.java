package io.ratelimit.metrics;

import static io.ratelimit.autoconfigure.LimitedContexts.assertRejected;
import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Measurement;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.MockClock;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.config.MeterFilter;
import io.micrometer.core.instrument.simple.SimpleConfig;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitAdmin;
import io.ratelimit.RateLimitOverride;
import io.ratelimit.RateLimiter;
import io.ratelimit.RateLimiterRegistry;
import io.ratelimit.RateLimiterRegistry.PermitRequest;
import io.ratelimit.autoconfigure.LimitedContexts;
import io.ratelimit.internal.limiter.LimitCatalog;
import io.ratelimit.spi.Waiter;
import io.ratelimit.testing.LogRecorder;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.util.TestPropertyValues;
import org.springframework.cloud.context.environment.EnvironmentChangeEvent;
import org.springframework.context.ApplicationContext;

/** All meters of an application whose limits are in memory. */
class MetersTests {

    private final MockClock clock = new MockClock();

    private final MeterRegistry registry = new SimpleMeterRegistry(SimpleConfig.DEFAULT, clock);

    private final ApplicationContextRunner runner = LimitedContexts.inMemory()
            .withBean("registry", MeterRegistry.class, () -> registry)
            .withPropertyValues("ratelimit.limits.quotes.rate=1/s", "ratelimit.limits.quotes.capacity=2");

    @ParameterizedTest
    @CsvSource({
        "ratelimit.calls, calls",
        "ratelimit.wait, seconds",
        "ratelimit.store, seconds",
        "ratelimit.capacity, permits",
        "ratelimit.buckets, buckets",
        "ratelimit.evictions, evictions",
        "ratelimit.settlements.lost,"
    })
    void meterExistsFromTheStartWithUnitAndDescription(String name, String unit) {
        runner.run(context -> assertThat(registry.get(name).meters())
                .isNotEmpty()
                .allSatisfy(meter -> {
                    assertThat(meter.getId().getBaseUnit()).isEqualTo(unit);
                    assertThat(meter.getId().getDescription()).isNotBlank();
                    assertThat(values(meter)).containsOnly(name.equals("ratelimit.capacity") ? 2.0 : 0.0);
                }));
    }

    @ParameterizedTest
    @CsvSource({"ratelimit.leased", "ratelimit.store.state", "ratelimit.cached.rejections", "ratelimit.concurrency.lost"
    })
    void meterOfASharedStoreIsNotThere(String name) {
        runner.run(context -> assertThat(registry.find(name).meters()).isEmpty());
    }

    @Test
    void disabledLimitsHaveNoMeters() {
        runner.withPropertyValues("ratelimit.enabled=false").run(context -> {
            assertThat(context).hasNotFailed();
            quotes(context).tryAcquire("alice");
            assertThat(registry.getMeters()).isEmpty();
        });
    }

    @Test
    void capacityIsTheOneInForce() {
        runner.run(context -> {
            RateLimitAdmin admin = context.getBean(RateLimitAdmin.class);
            admin.override("quotes", RateLimitOverride.builder().capacity(7).build());
            assertThat(capacity("quotes")).isEqualTo(7);
            admin.removeOverride("quotes");
            assertThat(capacity("quotes")).isEqualTo(2);
        });
    }

    @Test
    void permitsThatCallsHoldAreThoseOfConcurrencyLimits() {
        runner.withPropertyValues(
                        "ratelimit.limits.exports.algorithm=concurrency", "ratelimit.limits.exports.capacity=5")
                .run(context -> {
                    assertThat(held()).isZero();
                    RateLimiter exports =
                            context.getBean(RateLimiterRegistry.class).get("exports");
                    RateLimiter.Entry alice = exports.enter("alice", 2);
                    RateLimiter.Entry bob = exports.enter("bob");
                    assertThat(held()).isEqualTo(3);
                    alice.close();
                    assertThat(held()).isEqualTo(1);
                    bob.close();
                    assertThat(held()).isZero();
                    assertThat(registry.get("ratelimit.concurrency").meters()).hasSize(1);
                });
    }

    @Test
    void limitThatARefreshTurnsIntoAConcurrencyLimitHasItsGauge() {
        runner.run(context -> {
            TestPropertyValues.of("ratelimit.limits.quotes.algorithm=concurrency", "ratelimit.limits.quotes.rate=")
                    .applyTo(context);
            context.publishEvent(new EnvironmentChangeEvent(context));
            try (RateLimiter.Entry alice = quotes(context).enter("alice")) {
                assertThat(alice).isNotNull();
                assertThat(registry.get("ratelimit.concurrency")
                                .tag("limit", "quotes")
                                .gauge()
                                .value())
                        .isEqualTo(1);
            }
        });
    }

    private double held() {
        return registry.get("ratelimit.concurrency")
                .tag("limit", "exports")
                .gauge()
                .value();
    }

    @Test
    void waitIsMeasuredOnceAndForTheLimitWithTheLongestDelay() {
        runner.withBean(Waiter.class, () -> clock::add)
                .withPropertyValues(
                        "ratelimit.limits.quotes.max-wait=10s",
                        "ratelimit.limits.leaky.algorithm=leaky_bucket",
                        "ratelimit.limits.leaky.rate=1/m",
                        "ratelimit.limits.leaky.capacity=5",
                        "ratelimit.limits.leaky.max-wait=10m")
                .run(context -> {
                    RateLimiter quotes = quotes(context);
                    quotes.acquire("alice");
                    quotes.acquire("alice");
                    assertThat(wait("quotes").count()).isZero();
                    quotes.acquire("alice");
                    assertThat(wait("quotes").count()).isEqualTo(1);
                    assertThat(wait("quotes").totalTime(TimeUnit.MILLISECONDS)).isEqualTo(1_000);
                    RateLimiterRegistry limiters = context.getBean(RateLimiterRegistry.class);
                    List<PermitRequest> both =
                            List.of(new PermitRequest("quotes", "alice"), new PermitRequest("leaky", "alice"));
                    limiters.acquireAll(both);
                    limiters.acquireAll(both);
                    assertThat(wait("leaky").count()).isEqualTo(1);
                });
    }

    @Test
    void asynchronousWaitIsMeasured() {
        runner.withBean(Waiter.class, () -> clock::add)
                .withPropertyValues("ratelimit.limits.quotes.max-wait=10s")
                .run(context -> {
                    for (int i = 0; i < 3; i++) {
                        quotes(context)
                                .acquireAsync("alice")
                                .toCompletableFuture()
                                .get();
                    }
                    assertThat(wait("quotes").count()).isEqualTo(1);
                });
    }

    @Test
    void bucketsAreCountedAndThoseEvictedWhileInUse() {
        runner.withPropertyValues("ratelimit.in-memory.max-keys=2").run(context -> {
            quotes(context).tryAcquire("alice");
            assertThat(registry.get("ratelimit.buckets").gauge().value()).isEqualTo(1);
            quotes(context).tryAcquire("bob");
            assertThat(evictions()).isZero();
            quotes(context).tryAcquire("carol");
            assertThat(registry.get("ratelimit.buckets").gauge().value()).isEqualTo(2);
            assertThat(evictions()).isEqualTo(1);
        });
    }

    @Test
    void limitThatIsDeclaredLaterHasItsMetersThen() {
        runner.run(context -> {
            context.getBean(LimitCatalog.class)
                    .declare(RateLimit.named("later").rate("3/s").build(), "a route");
            assertThat(capacity("later")).isEqualTo(3);
            assertThat(registry.get("ratelimit.calls").tag("limit", "later").counters())
                    .hasSize(4);
        });
    }

    /** Gauges hold the context. Counters keep their values, as those of Spring Boot do. */
    @Test
    void closedContextLeavesNoGaugeInTheRegistry() {
        registry.gauge("of.the.application", 1);
        runner.run(context -> {
            assertThat(gauges()).hasSizeGreaterThan(2);
            context.getBean(LimitCatalog.class)
                    .declare(RateLimit.named("later").rate("3/s").build(), "a route");
        });
        assertThat(gauges()).containsExactly("of.the.application");
    }

    @Test
    void renamedGaugesAreRemovedToo() {
        registry.config().meterFilter(new MeterFilter() {
            @Override
            public Meter.Id map(Meter.Id id) {
                return id.withName("acme." + id.getName());
            }
        });
        registry.config().commonTags("zone", "a");
        runner.run(context -> {
            quotes(context).tryAcquire("alice");
            assertThat(registry.get("acme.ratelimit.calls")
                            .tags("zone", "a", "outcome", "allowed")
                            .counter()
                            .count())
                    .isEqualTo(1);
            assertThat(gauges()).contains("acme.ratelimit.capacity");
        });
        assertThat(gauges()).isEmpty();
    }

    @Test
    void contextsThatShareARegistryShareCountersAndGaugesShowTheOlderOne() {
        runner.run(older -> {
            runner.withPropertyValues("ratelimit.limits.quotes.capacity=5").run(younger -> {
                quotes(older).tryAcquire("alice");
                quotes(younger).tryAcquire("alice");
                assertThat(allowed()).isEqualTo(2);
                assertThat(capacity("quotes")).isEqualTo(2);
            });
            quotes(older).tryAcquire("alice");
            assertThat(allowed()).isEqualTo(3);
            assertThat(capacity("quotes")).isEqualTo(2);
        });
    }

    @Test
    void registryThatThrowsCostsNoStartUpAndNoCall() {
        registry.config().meterFilter(new MeterFilter() {
            @Override
            public Meter.Id map(Meter.Id id) {
                throw new IllegalStateException("no " + id);
            }
        });
        try (LogRecorder log = new LogRecorder("io.ratelimit.metrics")) {
            runner.run(context -> {
                assertThat(context).hasNotFailed();
                RateLimiter quotes = quotes(context);
                quotes.acquire("alice");
                quotes.acquire("alice");
                assertRejected("quotes", () -> quotes.acquire("alice"));
            });
            assertThat(log.lines()).containsExactly("A meter failed; its further failures are not logged");
        }
    }

    /** The registry knows a meter of that name with other tags: Prometheus' refuses that of the starter then. */
    @Test
    void meterOfAnotherKindUnderTheSameNameCostsThisOneAlone() {
        registry.timer("ratelimit.evictions");
        runner.run(context -> {
            assertThat(context).hasNotFailed();
            assertThat(capacity("quotes")).isEqualTo(2);
        });
        assertThat(registry.get("ratelimit.evictions").timers()).hasSize(1);
    }

    private Stream<String> gauges() {
        return registry.getMeters().stream()
                .filter(Gauge.class::isInstance)
                .map(meter -> meter.getId().getName());
    }

    private double capacity(String limit) {
        return registry.get("ratelimit.capacity").tag("limit", limit).gauge().value();
    }

    private Timer wait(String limit) {
        return registry.get("ratelimit.wait").tag("limit", limit).timer();
    }

    private double evictions() {
        return registry.get("ratelimit.evictions").counter().count();
    }

    private double allowed() {
        return registry.get("ratelimit.calls")
                .tags("limit", "quotes", "outcome", "allowed")
                .counter()
                .count();
    }

    private static List<Double> values(Meter meter) {
        return StreamSupport.stream(meter.measure().spliterator(), false)
                .map(Measurement::getValue)
                .toList();
    }

    private static RateLimiter quotes(ApplicationContext context) {
        return context.getBean(RateLimiterRegistry.class).get("quotes");
    }
}
