package io.ratelimit.simulation;

import io.ratelimit.simulation.SimulatedNetwork.State;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import org.jspecify.annotations.Nullable;

/** Scenes: several events that seldom follow one another by chance. */
@SuppressWarnings({"EnumOrdinal", "IntLongMath"}) // Small numbers.
final class SceneEvents {

    private final HistoryContext history;

    private final Random random;

    private final World world;

    private final CallEvents calls;

    private final OperatorEvents operators;

    private final NetworkEvents networks;

    /** A limit with large costs, if there is one. */
    private @Nullable Declaration costs;

    /** A limit of each instance that blocks, if there is one: then there is a total, too. */
    private @Nullable Declaration blocks;

    private @Nullable Declaration total;

    SceneEvents(HistoryContext history, CallEvents calls, OperatorEvents operators, NetworkEvents networks) {
        this.history = history;
        this.random = history.random;
        this.world = history.world;
        this.calls = calls;
        this.operators = operators;
        this.networks = networks;
    }

    /** Declares limits that some scenes need. */
    void declare() {
        if (world.isShared() && random.nextInt(3) == 0) {
            costs = history.declare(Declaration.ofCosts("costs", random));
        }
        if (world.isShared() && random.nextInt(3) == 0) {
            blocks = history.declare(Declaration.ofBlocks("blocks", random));
            total = history.declare(Declaration.ofTotal("total", random));
        }
    }

    void play() {
        Member member = history.member();
        Declaration limit = history.limit();
        String key = history.key();
        switch (random.nextInt(7)) {
            case 0 -> {
                Declaration held = known(Feature.CONCURRENCY, limit);
                history.note("calls run, and their bucket is reset");
                connect(member);
                calls.call(member, key, List.of(held), 1);
                calls.call(member, key, List.of(held), 1);
                world.pass(Duration.ofMillis(200));
                operators.change(Event.RESET, member, held, key);
                world.pass(Duration.ofSeconds(random.nextInt(14)));
                history.inspect(held, key, member);
            }
            case 1 -> {
                history.note("an outage, in which calls end");
                calls.burst(member, key, List.of(known(Feature.PERMITS_AFTER, limit)));
                networks.change(member, random.nextBoolean() ? State.CUT : State.HANGS);
                calls.pickCall(true, call -> call.end(2));
                world.pass(Duration.ofMillis(random.nextBoolean() ? 0 : 600));
                int cost = 2 + random.nextInt(8);
                history.note("all running calls end, at " + cost + " times the estimate");
                world.calls.stream().filter(SimulatedCall::isRunning).toList().forEach(call -> call.end(cost));
                world.pass(Duration.ofMillis(500 + random.nextInt(3_500)));
                networks.change(member, State.WELL);
                world.pass(Duration.ofMillis(3_300));
                history.inspect(known(Feature.PERMITS_AFTER, limit), key, member);
            }
            case 2 -> {
                history.note("overrides of a limit and its plan");
                world.limits.stream()
                        .filter(known -> !known.plans().isEmpty() && !known.has(Feature.CONCURRENCY))
                        .findFirst()
                        .ifPresent(known -> {
                            operators.override(member, known, null, random.nextInt(3) > 0 ? 5 : random.nextInt(8));
                            operators.override(
                                    member, known, known.plans().get(0), random.nextInt(3) > 0 ? 7 : random.nextInt(8));
                            world.pass(Duration.ofSeconds(3 + random.nextInt(5)));
                            // Whatever one limit has, the others follow.
                            operators.override(member, limit, null, 1);
                            world.pass(Duration.ofMillis(1_200));
                        });
            }
            case 3 -> manyCosts(member, history.newKey());
            case 4 -> blockLeased(member, key);
            case 5 -> refundsBesideOtherPlans(member, history.newKey());
            default -> callsAtOnce(member, history.newKey());
        }
    }

    /** An operator blocks a key whose permits this instance, and another if there is one, have leased. */
    void blockLeased(Member member, String key) {
        world.limits.stream()
                .filter(known -> known.has(Feature.LEASE))
                .findFirst()
                .ifPresent(leased -> {
                    history.note("a key is blocked, and permits of it are leased");
                    Member other = world.others(member).stream().findFirst().orElse(member);
                    connect(member);
                    connect(other);
                    // The first call of a key takes no lease.
                    for (int i = 0; i < 2; i++) {
                        calls.call(member, key, List.of(leased), 1);
                        calls.call(other, key, List.of(leased), 1);
                    }
                    operators.change(Event.BLOCK, member, leased, key);
                    calls.call(member, key, List.of(leased), 1);
                    calls.call(member, key, List.of(leased), 1);
                    world.pass(SimulatedChannel.DELAY.multipliedBy(2));
                    calls.call(other, key, List.of(leased), 1);
                });
    }

    /** Calls of several plans end, and what is refunded of each is left for all plans. */
    void refundsBesideOtherPlans(Member member, String guest) {
        world.limits.stream()
                .filter(known -> !known.plans().isEmpty())
                .filter(known -> known.has(Feature.REFUND_ON) || known.has(Feature.PERMITS_AFTER))
                .findFirst()
                .ifPresent(refunded -> {
                    history.note("calls of several plans fail");
                    connect(member);
                    for (int i = 0; i < 4; i++) {
                        calls.call(member, guest, List.of(refunded), 1);
                    }
                    world.calls.stream()
                            .filter(SimulatedCall::isRunning)
                            .toList()
                            .forEach(call -> call.end(0));
                    world.pass(Duration.ofMillis(2_500));
                    history.inspect(refunded, guest, member);
                });
    }

    /** Many calls end in a short outage, and each costs less than what their limit refills in the time of one timeout. */
    void manyCosts(Member member, String guest) {
        if (costs == null) {
            return;
        }
        history.note("an outage, in which many calls end");
        connect(member);
        int number = 100 + random.nextInt(50);
        for (int i = 0; i < number; i++) {
            calls.call(member, guest, List.of(costs), 1);
        }
        networks.change(member, number % 2 == 0 ? State.HANGS : State.LOSES_REPLIES);
        world.pass(Duration.ofMillis(10));
        int cost = 6 + random.nextInt(4);
        history.note("all running calls end, at " + cost + " times the estimate");
        world.calls.stream().filter(SimulatedCall::isRunning).toList().forEach(call -> call.end(cost));
        world.pass(Duration.ofMillis(300));
        connect(member);
        history.inspect(costs, guest, member);
    }

    /** Calls at once, of a limit that blocks and of a total that is exhausted: none of them is a violation of the first. */
    void callsAtOnce(Member member, String guest) {
        if (blocks == null || total == null) {
            return;
        }
        history.note("calls at once, with limits of both scopes, one of them exhausted");
        connect(member);
        for (int i = 0; i < 4; i++) {
            calls.call(member, guest, List.of(total), 1);
        }
        // Until the rejections of the exhausted limit are not remembered any more.
        world.pass(Duration.ofMillis(1_100));
        networks.change(member, State.LATE);
        calls.call(member, guest, List.of(blocks, total), 1);
        calls.call(member, guest, List.of(blocks, total), 1);
        world.pass(Duration.ofMillis(1_500));
        calls.call(member, guest, List.of(blocks), 1);
        networks.change(member, State.WELL);
    }

    /** Returns the first limit with the feature, if there is one. */
    private Declaration known(Feature feature, Declaration otherwise) {
        return world.limits.stream()
                .filter(known -> known.has(feature))
                .findFirst()
                .orElse(otherwise);
    }

    /** Has Redis answer this instance again. */
    private void connect(Member member) {
        networks.change(member, State.WELL);
        world.pass(Duration.ofMillis(Member.RECOVERY / 1_000 + 100));
    }
}
