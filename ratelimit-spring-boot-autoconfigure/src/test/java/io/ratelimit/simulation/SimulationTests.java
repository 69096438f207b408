package io.ratelimit.simulation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ratelimit.redis.RedisUnderTest;
import io.ratelimit.redis.SimulatedServer;
import io.ratelimit.testing.BothTiers;
import io.ratelimit.testing.TestRandom;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.function.IntFunction;
import java.util.function.LongFunction;
import java.util.logging.Level;
import java.util.logging.Logger;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Plays random histories of simulated applications, and compares what is observed with the model. */
@BothTiers
class SimulationTests {

    private static final String HISTORY = "ratelimit.test.history";

    private static final int EVENTS = 200;

    /** So many histories of each kind meet everything. */
    private static final int FEWEST = 25;

    /** How many events are shown of a history in which the model was violated. */
    private static final int SHOWN = 25;

    @RegisterExtension
    static final RedisUnderTest redis = new RedisUnderTest();

    /** How many tests have played all of their histories. */
    private static int wholes;

    private static final Logger LOGGER = Logger.getLogger("io.ratelimit");

    private static final Coverage coverage = new Coverage();

    /** A history has more outages than a log should have lines. */
    @BeforeAll
    static void silence() {
        LOGGER.setLevel(Level.OFF);
    }

    @Test
    void inMemory() {
        playOver(TestRandom.cases(55_000), null);
    }

    @Test
    void overRedis() {
        playOver(TestRandom.cases(5_000), new SimulatedServer(redis.connections(), Declaration.OWN));
    }

    @Test
    void overHttp() {
        play(TestRandom.cases(40_000), seed -> {
            WebHistory history = new WebHistory(seed, coverage);
            return new Played(() -> history.play(EVENTS), history::last);
        });
    }

    @Test
    void failureOfObserverIsFound() {
        Model model = new Model(() -> 0);
        Runnable observer = () -> {
            throw new IllegalStateException("simulated");
        };
        assertThatThrownBy(() -> model.observe(observer)).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(model::pass).hasMessage("an observer fails: simulated");
    }

    private static void playOver(int histories, @Nullable SimulatedServer server) {
        play(histories, seed -> {
            History history = new History(seed, server, coverage);
            return new Played(() -> history.play(EVENTS), history::last);
        });
    }

    record Played(Play events, IntFunction<String> last) {}

    interface Play {

        void run() throws Exception;
    }

    static void play(int histories, LongFunction<Played> create) {
        Random seeds = TestRandom.create(SimulationTests.class);
        Long only = Long.getLong(HISTORY);
        Map<String, List<String>> violations = new TreeMap<>();
        for (int i = 0; i < histories; i++) {
            long seed = only == null ? seeds.nextLong() : only;
            Played history = create.apply(seed);
            try {
                history.events.run();
            } catch (AssertionError | Exception ex) {
                List<String> alike = violations.computeIfAbsent(kind(ex), first -> new ArrayList<>());
                alike.add("-D" + HISTORY + "=" + seed + ": " + ex.getMessage());
                if (alike.size() == 1) {
                    System.out.println(
                            "History " + seed + "\n" + history.last.apply(only == null ? SHOWN : Integer.MAX_VALUE));
                    ex.printStackTrace(System.out);
                }
            }
            if (only != null) {
                break;
            }
        }
        if (only == null && histories >= FEWEST) {
            wholes++;
        }
        assertThat(violations.entrySet().stream()
                        .map(kind -> kind.getValue().size() + " times: " + kind.getKey() + "\n  "
                                + kind.getValue().stream().limit(3).collect(Collectors.joining("\n  "))))
                .as("violations of the model")
                .isEmpty();
    }

    /** Returns what is alike in the messages of violations. */
    private static String kind(Throwable violation) {
        return String.valueOf(violation.getMessage()).split("[:(\\d]", 2)[0];
    }

    @AfterAll
    static void writeCoverage() {
        LOGGER.setLevel(null);
        coverage.write(Path.of("target", "simulation-coverage.md"));
        if (wholes == 3) {
            assertThat(coverage.missing(WebHistory.FEATURES))
                    .as("what has never happened")
                    .isEmpty();
        }
    }
}
