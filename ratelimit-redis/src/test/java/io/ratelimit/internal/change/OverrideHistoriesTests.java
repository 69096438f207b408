package io.ratelimit.internal.change;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.Algorithm;
import io.ratelimit.LimitAlgorithm;
import io.ratelimit.LimitAttributes;
import io.ratelimit.LimitConfiguration;
import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitAdmin;
import io.ratelimit.RateLimitConfigurationException;
import io.ratelimit.RateLimitOverride;
import io.ratelimit.RateLimitPlan;
import io.ratelimit.RateLimitStatus;
import io.ratelimit.internal.change.SimulatedInstance.Network;
import io.ratelimit.internal.change.SimulatedInstance.Request;
import io.ratelimit.internal.limiter.StoredOverride;
import io.ratelimit.testing.LongRunning;
import io.ratelimit.testing.TestRandom;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.logging.Level;
import java.util.logging.Logger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Two instances, one of them without a plan, change two limits and their plans at random. Requests are run and replied late,
 * overrides end, configurations are refreshed, the clock of the server jumps. What applies in the end depends on nothing but the
 * configuration, the overrides and the time.
 */
@LongRunning
class OverrideHistoriesTests {

    private static final int EVENTS = 100;

    private static final List<String> LIMITS = List.of("api", "search");

    private static final List<String> PLANS = List.of("gold", "free");

    private static final List<Network> NETWORKS = List.of(Network.UP, Network.SLOW, Network.DOWN);

    private static final List<RateLimitOverride.Builder> OVERRIDES = List.of(
            RateLimitOverride.builder().rate("1000/s").capacity(1_000),
            RateLimitOverride.builder().capacity(1_000_000),
            RateLimitOverride.builder().rate("7/s"),
            RateLimitOverride.builder().capacity(6),
            RateLimitOverride.builder().capacity(20),
            RateLimitOverride.builder().maxWait(Duration.ofSeconds(1)),
            RateLimitOverride.builder().enabled(false),
            RateLimitOverride.builder().rate("10/s").dryRun(true));

    private static final Logger LOG = Logger.getLogger("io.ratelimit");

    private final Random random = TestRandom.create(OverrideHistoriesTests.class);

    private final Level level = LOG.getLevel();

    /** A line for each change. */
    @BeforeEach
    void silence() {
        LOG.setLevel(Level.OFF);
    }

    @AfterEach
    void goOnLogging() {
        LOG.setLevel(level);
    }

    @Test
    void instancesThatHaveSeenTheSameOverridesApplyTheSame() {
        for (int history = TestRandom.cases(5_000); history > 0; history--) {
            new History(random.nextLong()).play();
        }
    }

    private static final class History {

        private final long seed;

        private final Random random;

        private final OverrideServer server = new OverrideServer();

        private final SimulatedInstance[] instances;

        /** Whether overrides end, and the clock jumps. If not, an instance needs no further reading to apply the last reply. */
        private final boolean timed;

        History(long seed) {
            this.seed = seed;
            this.random = new Random(seed);
            this.timed = random.nextBoolean();
            instances = new SimulatedInstance[] {
                new SimulatedInstance(server, configuration(true)), new SimulatedInstance(server, configuration(false))
            };
        }

        private LimitConfiguration[] configuration(boolean withGold) {
            Map<String, RateLimitPlan> plans = new HashMap<>();
            plans.put("free", RateLimitPlan.named("free").rate(random.nextBoolean() ? "1/s" : "2/s"));
            if (withGold) {
                plans.put("gold", RateLimitPlan.named("gold").capacity(6));
            }
            return new LimitConfiguration[] {
                LimitConfiguration.of("api")
                        .with(LimitAttributes.RATE, random.nextBoolean() ? "1/d" : "1000/s")
                        .with(plans),
                LimitConfiguration.of("search")
                        .with(LimitAttributes.ALGORITHM, LimitAlgorithm.of(Algorithm.SLIDING_WINDOW))
                        .with(LimitAttributes.RATE, "3/s")
                        .with(plans)
            };
        }

        void play() {
            for (int event = 0; event < EVENTS; event++) {
                SimulatedInstance instance = instances[random.nextInt(2)];
                switch (random.nextInt(12)) {
                    case 0, 1, 2 -> change(instance, override());
                    case 3 -> change(instance, null);
                    case 4 -> instance.poll();
                    case 5, 6 -> run(instance);
                    case 7, 8 -> reply(instance);
                    case 9 -> pass(Duration.ofMillis(TestRandom.logarithmic(random, 1, 10_000)));
                    case 10 -> other(instance);
                    default -> instance.network = NETWORKS.get(random.nextInt(3));
                }
            }
            end();
        }

        private @Nullable RateLimitOverride override() {
            RateLimitOverride.Builder override = OVERRIDES.get(random.nextInt(OVERRIDES.size()));
            Duration duration = Duration.ofMillis(TestRandom.logarithmic(random, 1, 10_000));
            return override.duration(timed && random.nextBoolean() ? duration : null)
                    .build();
        }

        private void change(SimulatedInstance instance, @Nullable RateLimitOverride next) {
            String limit = LIMITS.get(random.nextInt(2));
            boolean ofPlan = random.nextBoolean();
            RateLimitAdmin admin = ofPlan ? instance.admin.forPlan(PLANS.get(random.nextInt(2))) : instance.admin;
            // Invalid ones, unknown plans and servers that are down are refused.
            var unused = next == null
                    ? admin.removeOverrideAsync(limit, RateLimitAdmin.ANY_VERSION)
                    : admin.overrideAsync(limit, next, RateLimitAdmin.ANY_VERSION);
        }

        private void run(SimulatedInstance instance) {
            List<Request> waiting = instance.requests.stream()
                    .filter(request -> !request.isRun())
                    .toList();
            if (!waiting.isEmpty()) {
                server.pass(Duration.ofNanos(1_000));
                waiting.get(random.nextInt(waiting.size())).run();
                server.pass(Duration.ofNanos(1_000));
            }
        }

        private void reply(SimulatedInstance instance) {
            List<Request> run =
                    instance.requests.stream().filter(Request::isRun).toList();
            if (!run.isEmpty()) {
                run.get(random.nextInt(run.size())).reply();
            }
        }

        /** The instances do what is due. Their requests of this time are replied at once, and earlier ones before. */
        private void pass(Duration time) {
            server.pass(time);
            for (SimulatedInstance instance : instances) {
                answerAll(instance);
                Network before = instance.network;
                instance.network = before == Network.SLOW ? Network.UP : before;
                instance.pass(time);
                instance.network = before;
            }
        }

        private void answerAll(SimulatedInstance instance) {
            while (!instance.requests.isEmpty()) {
                run(instance);
                reply(instance);
            }
        }

        private void other(SimulatedInstance instance) {
            switch (random.nextInt(4)) {
                case 0 -> instance.refresh(configuration(random.nextBoolean()));
                case 1 -> server.put(LIMITS.get(random.nextInt(2)) + "/gold", override(), "another instance");
                case 2 -> server.put(random.nextBoolean() ? "api" : "api/gold", null, "a newer version");
                default -> {
                    if (timed) {
                        server.pass(Duration.ofMillis(random.nextInt(20_000) - 10_000L));
                    }
                }
            }
        }

        private void end() {
            for (SimulatedInstance instance : instances) {
                answerAll(instance);
                if (!timed && instance.last != null) {
                    assertApplies(instance, instance.last);
                }
            }
            for (SimulatedInstance instance : instances) {
                instance.network = Network.UP;
                instance.poll();
                assertApplies(instance, server.read());
            }
        }

        private void assertApplies(SimulatedInstance instance, OverrideSnapshot snapshot) {
            for (String name : LIMITS) {
                RateLimitStatus status = instance.admin.status(name);
                RateLimit configured = status.configured();
                RateLimit expected = configured;
                boolean valid = true;
                try {
                    expected = expected(configured, snapshot);
                } catch (RateLimitConfigurationException ex) {
                    valid = false;
                }
                assertThat(status.effective().definition().isSetAs(expected.definition()))
                        .as("history %s: %s of %s, expected %s", seed, status.effective(), snapshot, expected)
                        .isTrue();
                if (status.override() != null) {
                    assertThat(status.override().problem() == null).isEqualTo(valid);
                }
            }
        }

        private static RateLimit expected(RateLimit configured, OverrideSnapshot snapshot) {
            RateLimitOverride ofLimit = null;
            Map<String, RateLimitOverride> ofPlans = new HashMap<>();
            for (Map.Entry<String, StoredOverride> each : snapshot.overrides().entrySet()) {
                StoredOverride override = each.getValue();
                boolean ended = override.endMicros() != 0 && override.endMicros() <= snapshot.nowMicros();
                String[] id = each.getKey().split("/", -1);
                if (ended
                        || !id[0].equals(configured.id())
                        || (id.length > 1 && !configured.plans().containsKey(id[1]))) {
                    continue;
                }
                if (override.attributes() == null) {
                    throw new RateLimitConfigurationException("unreadable", "");
                }
                if (id.length == 1) {
                    ofLimit = override.attributes();
                } else {
                    ofPlans.put(id[1], override.attributes());
                }
            }
            return configured.definition().with(ofLimit, ofPlans);
        }
    }
}
