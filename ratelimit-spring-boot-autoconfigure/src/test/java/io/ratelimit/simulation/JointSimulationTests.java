package io.ratelimit.simulation;

import io.ratelimit.redis.RedisUnderTest;
import io.ratelimit.redis.SimulatedServer;
import io.ratelimit.testing.BothTiers;
import io.ratelimit.testing.TestRandom;
import java.util.logging.Level;
import java.util.logging.Logger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Plays random histories of calls with several limits, in servers that are slow and in memory. Within 1,000 histories they find each
 * of these mistakes, for example at this seed of {@link #inMemory}:
 *
 * <ul>
 *   <li>Stores are charged last by whether the plan of the call alone blocks keys: 9198153208121743383
 *   <li>Each attempt of a call that waits charges limits in dry run: -1589868570177554856
 *   <li>A call is decided again when its wait ends during its first decision: -2310775296654477259
 *   <li>A call is rejected when its wait ends during a later attempt: 2093287144142971716
 *   <li>Limits in dry run are charged before the others, and refunded if a store fails: 1738819070972139572
 *   <li>The start-up looks at the limits' own numbers alone for two stores that block keys: 4853318268649222509
 *   <li>A plan of code that alone blocks keys is accepted beside another store: -1921288211592974155
 *   <li>A call that waits is decided again before its last charges are refunded: 8360870645466097286
 * </ul>
 *
 * <p>{@link #overRedis} finds the first one at -4482869427205526119, and at 9190803818136927174 that a cluster keeps the charges of a
 * call that a later slot rejects. The seeds hold as long as nothing else is drawn. Not found, and tested elsewhere: permits that come
 * back between a look and a charge in memory ({@code ProvisionalChargeTests}), plans of code on a cluster ({@code
 * CrossSlotDecisionTests}), and a lease that is taken with a call that another store rejects ({@code LeaseRefundTests}).
 */
@BothTiers
class JointSimulationTests {

    private static final int EVENTS = 150;

    private static final Logger LOGGER = Logger.getLogger("io.ratelimit");

    @RegisterExtension
    static final RedisUnderTest redis = new RedisUnderTest();

    /** Plans that are refused, and failing stores, are told at length. */
    @BeforeAll
    static void silence() {
        LOGGER.setLevel(Level.OFF);
    }

    @AfterAll
    static void tell() {
        LOGGER.setLevel(null);
    }

    @Test
    void inMemory() {
        play(TestRandom.cases(30_000), null);
    }

    @Test
    void overRedis() {
        play(TestRandom.cases(2_000), new SimulatedServer(redis.connections()));
    }

    private static void play(int histories, @Nullable SimulatedServer server) {
        SimulationTests.play(histories, seed -> {
            JointHistory history = new JointHistory(seed, server);
            return new SimulationTests.Played(() -> history.play(EVENTS), history::last);
        });
    }
}
