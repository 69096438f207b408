package io.ratelimit.simulation;

import io.ratelimit.RateLimitConfigurationException;
import io.ratelimit.redis.SimulatedServer;
import io.ratelimit.simulation.SimulatedNetwork.State;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import org.jspecify.annotations.Nullable;

/** What happens to a simulated application: drawn from a seed, and told to the model. */
@SuppressWarnings({"EnumOrdinal", "IntLongMath"}) // Small numbers.
final class History {

    private static final int MOST_INSTANCES = 3;

    private final Random random;

    private final World world;

    private final HistoryContext history;

    private final CallEvents calls;

    private final OperatorEvents operators;

    private final NetworkEvents networks;

    private final SceneEvents scenes;

    /** @param server {@code null}: in memory */
    History(long seed, @Nullable SimulatedServer server, Coverage coverage) {
        this.random = new Random(seed);
        this.world = new World(random, server);
        this.history = new HistoryContext(random, world, coverage);
        this.calls = new CallEvents(history);
        this.operators = new OperatorEvents(history);
        this.networks = new NetworkEvents(history);
        this.scenes = new SceneEvents(history, calls, operators, networks);
    }

    /** @throws AssertionError if the model is violated */
    void play(int events) {
        int limits = 1 + random.nextInt(4);
        for (int i = 0; i < limits; i++) {
            history.declare(Declaration.draw("l" + i, random, world.isShared()));
        }
        scenes.declare();
        refuseCombination();
        try {
            int instances = world.isShared() ? 1 + random.nextInt(MOST_INSTANCES) : 1;
            for (int i = 0; i < instances; i++) {
                world.start();
            }
        } catch (RateLimitConfigurationException ex) {
            throw new AssertionError("an application does not start: " + ex.getMessage(), ex);
        }
        for (int i = 0; i < events; i++) {
            event();
            world.pass(Duration.ZERO);
        }
        finish();
    }

    /** A combination without a user is refused at start-up. */
    private void refuseCombination() {
        if (random.nextInt(20) > 0) {
            return;
        }
        Declaration refused = Declaration.drawRefused("refused", random);
        history.note("declares " + refused + ", which must be refused");
        if (world.accepts(refused)) {
            throw new AssertionError("accepted a combination that is refused: " + refused);
        }
    }

    /** All calls end, all networks work, and after some time nothing is held. */
    private void finish() {
        history.note("all calls end");
        world.members.forEach(member -> networks.set(member, State.WELL));
        List.copyOf(world.calls).forEach(calls::endOrCancel);
        world.pass(Duration.ofSeconds(50));
        for (Declaration limit : world.limits) {
            for (Member member : world.members) {
                for (String key : HistoryContext.KEYS) {
                    history.inspect(limit, key, member);
                }
            }
        }
        world.members.forEach(member -> member.instance().stop());
    }

    private void event() {
        switch (random.nextInt(40)) {
            case 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12 -> calls.call();
            case 13, 14, 15, 16, 17, 18 -> calls.pickCall(true, calls::end);
            case 19 -> calls.pickCall(false, calls::cancel);
            case 20, 21, 22, 23, 24 -> pass();
            case 25, 26, 27 -> history.inspect(history.limit(), history.key(), history.member());
            case 28 -> calls.burst();
            case 29 -> operators.override();
            case 30 -> operators.removeOverride();
            case 31 -> operators.change(Event.RESET);
            case 32 -> operators.change(Event.GRANT);
            case 33 -> operators.change(random.nextBoolean() ? Event.BLOCK : Event.UNBLOCK);
            case 34, 35 -> networks.change();
            case 36 -> rare();
            case 37 -> scenes.play();
            default -> calls.call();
        }
    }

    private void rare() {
        switch (random.nextInt(5)) {
            case 4 -> operators.refresh();
            case 0 -> {
                if (world.isShared()) {
                    history.note("Redis restarts without data");
                    history.visit(Event.RESTART_WITHOUT_DATA);
                    world.loseData();
                }
            }
            case 1 -> {
                Duration by = Duration.ofMillis(100 + random.nextInt(random.nextBoolean() ? 4_500 : 120_000));
                history.note("the clock is set back by " + by);
                history.visit(Event.CLOCK_BACK);
                history.visit(Event.FAILOVER);
                world.setClockBack(by);
            }
            case 2 -> {
                if (world.isShared() && world.members.size() < MOST_INSTANCES) {
                    history.note("an instance starts");
                    world.start();
                }
            }
            default -> {
                if (world.members.size() > 1) {
                    stop(history.member());
                }
            }
        }
    }

    private void stop(Member member) {
        history.note(member.name() + " stops");
        history.visit(Event.SHUTDOWN);
        List.copyOf(world.calls).stream()
                .filter(call -> call.member() == member)
                .forEach(calls::endOrCancel);
        world.time.settle();
        member.instance().stop();
        world.remove(member);
    }

    private void pass() {
        Duration time = switch (random.nextInt(8)) {
            case 0, 1, 2 -> Duration.ofMillis(1 + random.nextInt(50));
            case 3, 4 -> Duration.ofMillis(100 + random.nextInt(400));
            case 5, 6 -> Duration.ofSeconds(1 + random.nextInt(3));
            default -> Duration.ofSeconds(5 + random.nextInt(40));
        };
        history.note(time + " pass");
        world.pass(time);
    }

    /** Returns the last events. */
    String last(int number) {
        return history.last(number);
    }
}
