package io.ratelimit.internal.change;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.tuple;

import io.ratelimit.LimitAttributes;
import io.ratelimit.LimitConfiguration;
import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitConfigurationException;
import io.ratelimit.RateLimitOverride;
import io.ratelimit.RateLimitPlan;
import io.ratelimit.RateLimitStatus;
import io.ratelimit.Scope;
import io.ratelimit.event.RateLimitChangedEvent;
import io.ratelimit.event.RateLimitChangedEvent.Kind;
import io.ratelimit.internal.limiter.JointLimits;
import io.ratelimit.testing.LogRecorder;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The overrides of a limit and its plans are valid or invalid together. */
class WholeOverrideTests {

    private static final RateLimitOverride MUCH =
            RateLimitOverride.builder().rate("1000/s").capacity(1_000).build();

    /** Valid only at a rate as that of {@link #MUCH}. */
    private static final RateLimitOverride MILLION =
            RateLimitOverride.builder().capacity(1_000_000).build();

    private static final List<String> OTHERS = List.of("a", "b", "c", "d", "e", "f", "g", "h");

    private final OverrideServer server = new OverrideServer();

    private final SimulatedInstance instance = new SimulatedInstance(server, api("1/d", true), other());

    private static LimitConfiguration api(String rate, boolean withPlan) {
        return LimitConfiguration.of("api")
                .with(LimitAttributes.RATE, rate)
                .with(withPlan ? Map.of("gold", RateLimitPlan.named("gold").capacity(2)) : Map.of());
    }

    private static LimitConfiguration other() {
        return LimitConfiguration.of("other").with(LimitAttributes.RATE, "5/s");
    }

    private static RateLimitOverride forThreeSeconds(RateLimitOverride override) {
        return RateLimitOverride.builder()
                .rate(override.rate())
                .capacity(override.capacity())
                .duration(Duration.ofSeconds(3))
                .build();
    }

    private void pass(Duration time) {
        server.pass(time);
        instance.pass(time);
    }

    private void assertConfigured() {
        assertThat(instance.effective("api")).hasToString("TOKEN_BUCKET, capacity 1 at 1/d, plans gold");
        assertThat(instance.limit("api").plan("gold")).hasToString("TOKEN_BUCKET, capacity 2 at 1/d, plan gold");
    }

    private static List<String> warnings(LogRecorder log) {
        return log.lines().stream()
                .filter(line -> line.startsWith("The overrides of rate limit"))
                .toList();
    }

    /** An operator cannot override the lease, which would keep a limit above it. */
    @Test
    void smallCapacityHasAsMuchOfTheLeaseAsItCan() {
        SimulatedInstance leasing = new SimulatedInstance(
                server,
                LimitConfiguration.of("api")
                        .with(LimitAttributes.RATE, "1000/s")
                        .with(LimitAttributes.LEASE, 100L));
        leasing.admin.override("api", RateLimitOverride.builder().capacity(50).build());
        assertThat(leasing.effective("api").lease()).isEqualTo(50);
        leasing.admin.override("api", RateLimitOverride.builder().rate("20/s").build());
        assertThat(leasing.effective("api").lease()).isEqualTo(20);
        leasing.admin.removeOverride("api");
        assertThat(leasing.effective("api").lease()).isEqualTo(100);
    }

    @Test
    void endOfOneThatAnotherNeedsLeavesTheConfiguredNumbers() {
        instance.admin.override("api", forThreeSeconds(MUCH));
        instance.admin.forPlan("gold").override("api", MILLION);
        assertThat(instance.limit("api").plan("gold").capacity()).isEqualTo(1_000_000);
        try (LogRecorder log = new LogRecorder("io.ratelimit")) {
            for (int second = 0; second < 10; second++) {
                pass(Duration.ofSeconds(1));
            }
            assertThat(warnings(log))
                    .singleElement()
                    .asString()
                    .contains("'api'", "plan 'gold': capacity must be from");
        }
        assertConfigured();
        RateLimitStatus status = instance.admin.status("api");
        assertThat(status.override()).isNull();
        assertThat(status.plans().get("gold").override().problem()).contains("plan 'gold': capacity must be from");
        assertThat(status.plans().get("gold").origins().get("capacity").source())
                .isNotEqualTo(RateLimitStatus.Source.OVERRIDE);
        instance.admin.override("api", MUCH);
        assertThat(instance.limit("api").plan("gold").capacity()).isEqualTo(1_000_000);
        assertThat(instance.events)
                .extracting(RateLimitChangedEvent::kind, RateLimitChangedEvent::madeHere)
                .containsExactly(
                        tuple(Kind.OVERRIDDEN, true),
                        tuple(Kind.OVERRIDDEN, true),
                        tuple(Kind.OVERRIDE_ENDED, true),
                        tuple(Kind.OVERRIDDEN, true),
                        tuple(Kind.OVERRIDDEN, false));
    }

    @Test
    void removalOfOneThatAnotherNeedsSucceeds() {
        instance.admin.override("api", MUCH);
        instance.admin.forPlan("gold").override("api", MILLION);
        RateLimitStatus status = instance.admin.removeOverride("api");
        assertThat(status.override()).isNull();
        assertThat(status.plans().get("gold").override().problem()).isNotNull();
        assertConfigured();
        assertThat(instance.admin.forPlan("gold").removeOverride("api").override())
                .isNull();
        assertConfigured();
    }

    @Test
    void invalidOneIsRefusedWithTheNameOfThePartAndChangesNothing() {
        assertThatExceptionOfType(RateLimitConfigurationException.class)
                .isThrownBy(() -> instance.admin.forPlan("gold").override("api", MILLION))
                .withMessageStartingWith("override of limit 'api', plan 'gold': capacity must be from 1 to");
        instance.admin.override("api", MUCH);
        instance.admin.forPlan("gold").override("api", MILLION);
        assertThatExceptionOfType(RateLimitConfigurationException.class)
                .isThrownBy(() -> instance.admin.override(
                        "api", RateLimitOverride.builder().dryRun(true).build()))
                .withMessageStartingWith("override of limit 'api', plan 'gold': capacity must be from 1 to");
        assertThat(server.overrides.get("api").attributes()).isEqualTo(MUCH);
        assertThat(instance.effective("api").dryRun()).isFalse();
    }

    @Test
    void invalidOverridesOfOneLimitLeaveTheOthersAlone() {
        LimitConfiguration[] limits = Stream.concat(
                        Stream.of(api("1/d", true)),
                        OTHERS.stream().map(name -> LimitConfiguration.of(name).with(LimitAttributes.RATE, "5/s")))
                .toArray(LimitConfiguration[]::new);
        SimulatedInstance many = new SimulatedInstance(server, limits);
        server.put("api", MUCH, null);
        server.put("api/gold", MILLION, null);
        many.poll();
        // An instance of another version, which does not have the plan.
        server.put("api", RateLimitOverride.builder().rate("7/d").build(), null);
        for (long capacity = 1; capacity < 4; capacity++) {
            for (String other : OTHERS) {
                server.put(other, RateLimitOverride.builder().capacity(capacity).build(), null);
            }
            many.poll();
            assertThat(OTHERS)
                    .extracting(many::effective)
                    .extracting(RateLimit::capacity)
                    .containsOnly(capacity);
            assertThat(many.effective("api")).hasToString("TOKEN_BUCKET, capacity 1 at 1/d, plans gold");
        }
    }

    /** The operator's instance does not know yet that code calls both limits together. */
    @ParameterizedTest
    @CsvSource({"here, api", "api, here"})
    void whatAppliesToTheLimitsOfACallIsTheSameInWhateverOrderTheirOverridesCame(String earlier, String later) {
        LimitConfiguration[] limits = {
            api("1/d", false),
            LimitConfiguration.of("here").with(LimitAttributes.RATE, "5/s").with(LimitAttributes.SCOPE, Scope.INSTANCE)
        };
        SimulatedInstance operator = new SimulatedInstance(server, limits);
        SimulatedInstance running = new SimulatedInstance(server, limits);
        joinLimits(running);
        RateLimitOverride blocking = RateLimitOverride.builder()
                .blockFor(List.of(Duration.ofMinutes(1)))
                .build();
        for (String limit : List.of(earlier, later)) {
            operator.admin.override(limit, blocking);
            running.poll();
        }
        SimulatedInstance restarted = new SimulatedInstance(server, limits);
        joinLimits(restarted);
        restarted.poll();
        for (String limit : List.of("api", "here")) {
            assertThat(restarted.effective(limit).blockFor())
                    .isEqualTo(running.effective(limit).blockFor());
            assertThat(running.effective(limit).blockFor()).isEmpty();
        }
        operator.admin.removeOverride(later);
        running.poll();
        assertThat(running.effective(earlier).blockFor()).isNotEmpty();
    }

    /** Each override is valid beside the others of its call, or two exclude each other. No third one applies or ends because of that. */
    @Test
    void limitsThatExcludeEachOtherLeaveTheOthersOfTheirCallsAlone() {
        RateLimitOverride blocking = RateLimitOverride.builder()
                .blockFor(List.of(Duration.ofMinutes(1)))
                .build();
        SimulatedInstance running = new SimulatedInstance(
                server,
                own("a"),
                LimitConfiguration.of("b")
                        .with(LimitAttributes.RATE, "5/s")
                        .with(LimitAttributes.BLOCK_FOR, blocking.blockFor()),
                own("c"),
                LimitConfiguration.of("d").with(LimitAttributes.RATE, "5/s"));
        for (String call : List.of("ab", "bcd")) {
            JointLimits.check(
                    running.catalog,
                    Stream.of(call.split("")).map(running::limit).toList(),
                    call);
        }
        server.put("b", RateLimitOverride.builder().dryRun(true).build(), null);
        for (String limit : List.of("a", "c", "d")) {
            server.put(limit, blocking, null);
        }
        running.poll();
        assertThat(running.effective("c").blockFor()).isEmpty();
        assertThat(running.effective("d").blockFor()).isEmpty();
        assertThat(running.effective("a").blockFor()).hasSize(1);
        assertThat(running.effective("b").dryRun()).isTrue();
    }

    private static LimitConfiguration own(String name) {
        return LimitConfiguration.of(name)
                .with(LimitAttributes.RATE, "5/s")
                .with(LimitAttributes.SCOPE, Scope.INSTANCE);
    }

    private static void joinLimits(SimulatedInstance instance) {
        JointLimits.check(instance.catalog, List.of(instance.limit("api"), instance.limit("here")), "acquireAll");
    }

    @Test
    void overrideThatCannotBeReadIsInvalid() {
        server.put("api", MUCH, null);
        server.put("api/gold", null, null);
        instance.poll();
        assertConfigured();
        assertThat(instance.admin.status("api").override().problem())
                .isEqualTo(
                        "the override of plan 'gold' must be readable. A newer version of the starter may have written it.");
    }

    @Test
    void whateverOneLimitThrowsTheOthersFollow() {
        instance.limit("api").addCheck(instance.catalog, limit -> {
            if (limit.dryRun()) {
                throw new NoClassDefFoundError("a class of an algorithm");
            }
        });
        instance.limit("other").addListener(instance.catalog, () -> {
            throw new NoClassDefFoundError("a class of a listener");
        });
        instance.synchronizer.addListener(instance.catalog, event -> {
            throw new NoClassDefFoundError("a class of an application");
        });
        for (String limit : List.of("api", "other")) {
            server.put(limit, RateLimitOverride.builder().dryRun(true).build(), null);
        }
        instance.poll();
        assertThat(instance.effective("other").dryRun()).isTrue();
        assertConfigured();
        assertThat(instance.admin.status("api").override().problem()).contains("a class of an algorithm");
        assertThat(instance.admin.removeOverride("other").effective().dryRun()).isFalse();
    }

    @Test
    void errorInOneReadingConcernsNeitherOtherLimitsNorTheNextReading() {
        AtomicBoolean failing = new AtomicBoolean(true);
        instance.limit("api").addCheck(instance.catalog, limit -> {
            if (limit.dryRun() && failing.get()) {
                throw new OutOfMemoryError("simulated");
            }
        });
        for (String limit : List.of("api", "other")) {
            server.put(limit, RateLimitOverride.builder().dryRun(true).build(), null);
        }
        instance.poll();
        assertThat(instance.effective("other").dryRun()).isTrue();
        assertConfigured();
        failing.set(false);
        pass(Duration.ofSeconds(1));
        assertThat(instance.effective("api").dryRun()).isTrue();
        assertThat(instance.admin.status("api").override().problem()).isNull();
        failing.set(true);
        pass(Duration.ofSeconds(1));
        assertConfigured();
        server.put("other", RateLimitOverride.builder().capacity(3).build(), null);
        pass(Duration.ofSeconds(1));
        assertThat(instance.effective("other").capacity()).isEqualTo(3);
    }

    @Test
    void overrideOfAPlanThatOnlyOthersHaveAppliesWhenThePlanComes() {
        SimulatedInstance old = new SimulatedInstance(server, api("1000/s", false), other());
        server.put("api/gold", MILLION, null);
        old.poll();
        assertThat(old.admin.override("api", MUCH).override().problem()).isNull();
        assertThat(old.effective("api").capacity()).isEqualTo(1_000);
        old.refresh(api("1000/s", true), other());
        assertThat(old.limit("api").plan("gold").capacity()).isEqualTo(1_000_000);
        old.refresh(api("1000/s", false), other());
        assertThat(old.limit("api").plan("gold").capacity()).isEqualTo(1_000);
    }

    @Test
    void refreshDecidesWhetherTheOverridesAreValid() {
        instance.refresh(api("1000/s", true), other());
        instance.admin.forPlan("gold").override("api", MILLION);
        try (LogRecorder log = new LogRecorder("io.ratelimit")) {
            instance.refresh(api("1/d", true), other());
            instance.poll();
            assertThat(warnings(log)).hasSize(1);
        }
        assertConfigured();
        instance.refresh(api("1000/s", true), other());
        assertThat(instance.limit("api").plan("gold").capacity()).isEqualTo(1_000_000);
    }
}
