package io.ratelimit.simulation;

import io.ratelimit.RateLimit;
import io.ratelimit.simulation.SimulatedCall.Part;
import io.ratelimit.spi.Charge;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;

/** Calls that begin, end or are cancelled. */
@SuppressWarnings({"EnumOrdinal", "IntLongMath"}) // Small numbers.
final class CallEvents {

    private final HistoryContext history;

    private final Random random;

    private final World world;

    CallEvents(HistoryContext history) {
        this.history = history;
        this.random = history.random;
        this.world = history.world;
    }

    void call() {
        call(history.member(), history.key(), someLimits());
    }

    List<Declaration> someLimits() {
        List<Declaration> some = new ArrayList<>(world.limits);
        java.util.Collections.shuffle(some, random);
        return random.nextInt(3) == 0
                ? combinable(some.subList(0, 1 + random.nextInt(some.size())))
                : List.of(history.limit());
    }

    /** Leaves out limits with which a call would be refused: those that block keys must be decided by one store. */
    private static List<Declaration> combinable(List<Declaration> limits) {
        Optional<Boolean> first = limits.stream()
                .filter(Declaration::blocks)
                .map(limit -> limit.has(Feature.INSTANCE_SCOPE))
                .findFirst();
        return limits.stream()
                .filter(limit -> !limit.blocks() || first.equals(Optional.of(limit.has(Feature.INSTANCE_SCOPE))))
                .toList();
    }

    void call(Member member, String key, List<Declaration> limits) {
        call(member, key, limits, 0);
    }

    /** @param asked permits of each limit; 0: drawn */
    void call(Member member, String key, List<Declaration> limits, long asked) {
        List<Part> parts = new ArrayList<>();
        for (Declaration limit : limits) {
            String plan = limit.plans().isEmpty() || random.nextBoolean()
                    ? null
                    : limit.plans().get(random.nextInt(limit.plans().size()));
            RateLimit applied = member.instance().limit(limit.name, plan);
            if (applied.enabled()) {
                long permits = asked > 0
                        ? asked
                        : random.nextInt(8) == 0
                                ? applied.capacity() + random.nextInt(2)
                                : 1 + random.nextInt((int) Math.min(3, applied.capacity()));
                Take take = world.model.ask(
                        world.bucket(limit, key, member), SimulatedInstance.numbers(applied), permits, member.name());
                parts.add(new Part(limit, new Charge(applied, key, permits), take));
                history.used.addAll(limit.features);
            }
        }
        if (parts.isEmpty()) {
            return;
        }
        if (parts.size() > 1) {
            history.used.add(Feature.SEVERAL_LIMITS);
        }
        if (world.isShared()) {
            history.used.add(Feature.REJECTION_CACHE);
        }
        SimulatedCall call = new SimulatedCall(member, world.model, parts);
        history.note("call of " + call);
        world.calls.add(call);
        call.begin();
        history.note("  " + call.state());
    }

    void end(SimulatedCall call) {
        int cost = random.nextInt(4);
        history.note("end of " + call + ", costs " + cost + " times the estimate");
        call.end(cost);
    }

    void cancel(SimulatedCall call) {
        history.note("cancels " + call);
        history.visit(Event.CANCEL);
        call.cancel();
    }

    void burst() {
        burst(history.member(), history.key(), someLimits());
        if (random.nextBoolean()) {
            int cost = random.nextInt(8);
            history.note("all running calls end, at " + cost + " times the estimate");
            world.calls.stream().filter(SimulatedCall::isRunning).toList().forEach(call -> call.end(cost));
        }
    }

    void burst(Member member, String key, List<Declaration> limits) {
        int number = 5 + random.nextInt(10);
        for (int i = 0; i < number; i++) {
            call(member, key, limits);
        }
    }

    void pickCall(boolean running, java.util.function.Consumer<SimulatedCall> action) {
        List<SimulatedCall> some = world.calls.stream()
                .filter(call -> running ? call.isRunning() : call.isPending())
                .toList();
        if (!some.isEmpty()) {
            action.accept(some.get(random.nextInt(some.size())));
        }
    }

    void endOrCancel(SimulatedCall call) {
        if (call.isRunning()) {
            call.end(1);
        } else if (call.isPending()) {
            call.cancel();
        }
    }
}
