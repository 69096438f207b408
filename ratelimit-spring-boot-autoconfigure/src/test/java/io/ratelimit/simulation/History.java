package io.ratelimit.simulation;

import io.ratelimit.spi.Charge;
import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitAdmin;
import io.ratelimit.RateLimitConfigurationException;
import io.ratelimit.RateLimitOverride;
import io.ratelimit.RateLimitSettings;
import io.ratelimit.redis.SimulatedServer;
import io.ratelimit.simulation.SimulatedCall.Part;
import io.ratelimit.simulation.SimulatedNetwork.State;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/** What happens to a simulated application: drawn from a seed, and told to the model. */
@SuppressWarnings({"EnumOrdinal", "IntLongMath"}) // Small numbers.
final class History {

    private static final List<String> KEYS = List.of("alice", "bob");

    private static final int MOST_INSTANCES = 3;

    private final Random random;

    private final World world;

    private final Coverage coverage;

    private final List<String> log = new ArrayList<>();

    /** Used since the last event of the kind that is counted. */
    private final Set<Feature> used = EnumSet.noneOf(Feature.class);

    /** A limit with large costs, if there is one. */
    private @Nullable Declaration costs;

    /** A limit of each instance that blocks, if there is one: then there is a total, too. */
    private @Nullable Declaration blocks;

    private @Nullable Declaration total;

    /** @param server {@code null}: in memory */
    History(long seed, @Nullable SimulatedServer server, Coverage coverage) {
        this.random = new Random(seed);
        this.world = new World(random, server);
        this.coverage = coverage;
    }

    /** @throws AssertionError if the model is violated */
    void play(int events) {
        int limits = 1 + random.nextInt(4);
        for (int i = 0; i < limits; i++) {
            declare(Declaration.draw("l" + i, random, world.isShared()));
        }
        if (world.isShared() && random.nextInt(3) == 0) {
            costs = declare(Declaration.ofCosts("costs", random));
        }
        if (world.isShared() && random.nextInt(3) == 0) {
            blocks = declare(Declaration.ofBlocks("blocks", random));
            total = declare(Declaration.ofTotal("total", random));
        }
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

    private Declaration declare(Declaration limit) {
        world.limits.add(limit);
        note("declares " + limit);
        return limit;
    }

    /** A combination without a user is refused at start-up. */
    private void refuseCombination() {
        if (random.nextInt(20) > 0) {
            return;
        }
        Declaration refused = Declaration.drawRefused("refused", random);
        note("declares " + refused + ", which must be refused");
        if (world.accepts(refused)) {
            throw new AssertionError("accepted a combination that is refused: " + refused);
        }
    }

    /** All calls end, all networks work, and after some time nothing is held. */
    private void finish() {
        note("all calls end");
        world.members.forEach(member -> changeNetwork(member, State.WELL));
        List.copyOf(world.calls).forEach(this::endOrCancel);
        world.pass(Duration.ofSeconds(50));
        for (Declaration limit : world.limits) {
            for (Member member : world.members) {
                for (String key : KEYS) {
                    inspect(limit, key, member);
                }
            }
        }
        world.members.forEach(member -> member.instance().stop());
    }

    private void endOrCancel(SimulatedCall call) {
        if (call.isRunning()) {
            call.end(1);
        } else if (call.isPending()) {
            call.cancel();
        }
    }

    private void event() {
        switch (random.nextInt(40)) {
            case 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12 -> call();
            case 13, 14, 15, 16, 17, 18 -> pickCall(true, call -> end(call));
            case 19 -> pickCall(false, this::cancel);
            case 20, 21, 22, 23, 24 -> pass();
            case 25, 26, 27 -> inspect(limit(), key(), member());
            case 28 -> burst();
            case 29 -> override();
            case 30 -> removeOverride();
            case 31 -> change(Event.RESET);
            case 32 -> change(Event.GRANT);
            case 33 -> change(random.nextBoolean() ? Event.BLOCK : Event.UNBLOCK);
            case 34, 35 -> network();
            case 36 -> rare();
            case 37 -> scene();
            default -> call();
        }
    }

    private void rare() {
        switch (random.nextInt(5)) {
            case 4 -> refresh();
            case 0 -> {
                if (world.isShared()) {
                    note("Redis restarts without data");
                    visit(Event.RESTART_WITHOUT_DATA);
                    world.loseData();
                }
            }
            case 1 -> {
                Duration by = Duration.ofMillis(100 + random.nextInt(random.nextBoolean() ? 4_500 : 120_000));
                note("the clock is set back by " + by);
                visit(Event.CLOCK_BACK);
                visit(Event.FAILOVER);
                world.setClockBack(by);
            }
            case 2 -> {
                if (world.isShared() && world.members.size() < MOST_INSTANCES) {
                    note("an instance starts");
                    world.start();
                }
            }
            default -> {
                if (world.members.size() > 1) {
                    stop(member());
                }
            }
        }
    }

    /** Several events that seldom follow one another by chance. */
    private void scene() {
        Member member = member();
        Declaration limit = limit();
        String key = key();
        switch (random.nextInt(6)) {
            case 0 -> {
                note("calls run, and their bucket is reset");
                call(member, key, List.of(limit));
                call(member, key, List.of(limit));
                world.pass(Duration.ofMillis(200));
                change(Event.RESET, member, limit, key);
                world.pass(Duration.ofSeconds(random.nextInt(14)));
                inspect(limit, key, member);
            }
            case 1 -> {
                note("an outage, in which calls end");
                burst(member, key, List.of(settled(limit)));
                network(member, random.nextBoolean() ? State.CUT : State.HANGS);
                pickCall(true, call -> call.end(2));
                world.pass(Duration.ofMillis(random.nextBoolean() ? 0 : 600));
                int cost = 2 + random.nextInt(8);
                note("all running calls end, at " + cost + " times the estimate");
                world.calls.stream().filter(SimulatedCall::isRunning).toList().forEach(call -> call.end(cost));
                world.pass(Duration.ofMillis(500 + random.nextInt(3_500)));
                network(member, State.WELL);
                world.pass(Duration.ofMillis(3_300));
                inspect(settled(limit), key, member);
            }
            case 2 -> {
                note("overrides of a limit and its plan");
                world.limits.stream()
                        .filter(known -> !known.plans().isEmpty() && !known.has(Feature.CONCURRENCY))
                        .findFirst()
                        .ifPresent(known -> {
                            override(member, known, null, random.nextInt(3) > 0 ? 5 : random.nextInt(8));
                            override(
                                    member, known, known.plans().get(0), random.nextInt(3) > 0 ? 7 : random.nextInt(8));
                            world.pass(Duration.ofSeconds(3 + random.nextInt(5)));
                            // Whatever one limit has, the others follow.
                            override(member, limit, null, 1);
                            world.pass(Duration.ofMillis(1_200));
                        });
            }
            case 3 -> manyCosts(member, "guest" + log.size());
            case 4 -> blockLeased(member, key);
            default -> callsAtOnce(member, "guest" + log.size());
        }
    }

    /** An operator blocks a key, and an instance has leased permits of it. */
    private void blockLeased(Member member, String key) {
        world.limits.stream()
                .filter(known -> known.has(Feature.LEASE))
                .findFirst()
                .ifPresent(leased -> {
                    note("a key is blocked, and permits of it are leased");
                    network(member, State.WELL);
                    world.pass(Duration.ofMillis(Member.RECOVERY / 1_000 + 100));
                    call(member, key, List.of(leased), 1);
                    change(Event.BLOCK, member, leased, key);
                    call(member, key, List.of(leased), 1);
                    call(member, key, List.of(leased), 1);
                });
    }

    /** Many calls end in a short outage, and each costs less than what their limit refills in the time of one timeout. */
    private void manyCosts(Member member, String guest) {
        if (costs == null) {
            return;
        }
        note("an outage, in which many calls end");
        network(member, State.WELL);
        world.pass(Duration.ofMillis(Member.RECOVERY / 1_000 + 100));
        int number = 100 + random.nextInt(50);
        for (int i = 0; i < number; i++) {
            call(member, guest, List.of(costs), 1);
        }
        network(member, State.HANGS);
        world.pass(Duration.ofMillis(10));
        int cost = 6 + random.nextInt(4);
        note("all running calls end, at " + cost + " times the estimate");
        world.calls.stream().filter(SimulatedCall::isRunning).toList().forEach(call -> call.end(cost));
        world.pass(Duration.ofMillis(300));
        network(member, State.WELL);
        world.pass(Duration.ofMillis(Member.RECOVERY / 1_000 + 100));
        inspect(costs, guest, member);
    }

    /** Calls at once, of a limit that blocks and of a total that is exhausted: none of them is a violation of the first. */
    private void callsAtOnce(Member member, String guest) {
        if (blocks == null || total == null) {
            return;
        }
        note("calls at once, with limits of both scopes, one of them exhausted");
        network(member, State.WELL);
        world.pass(Duration.ofMillis(Member.RECOVERY / 1_000 + 100));
        for (int i = 0; i < 4; i++) {
            call(member, guest, List.of(total), 1);
        }
        // Until the rejections of the exhausted limit are not remembered any more.
        world.pass(Duration.ofMillis(1_100));
        network(member, State.LATE);
        call(member, guest, List.of(blocks, total), 1);
        call(member, guest, List.of(blocks, total), 1);
        world.pass(Duration.ofMillis(1_500));
        call(member, guest, List.of(blocks), 1);
        network(member, State.WELL);
    }

    /** Returns a limit with costs that are known afterwards, if there is one. */
    private Declaration settled(Declaration otherwise) {
        return world.limits.stream()
                .filter(known -> known.has(Feature.PERMITS_AFTER))
                .findFirst()
                .orElse(otherwise);
    }

    private void network(Member member, State next) {
        note("the network of " + member.name() + ": " + next);
        if (next != State.WELL && next != State.LATE) {
            visit(Event.OUTAGE);
            visit(Event.RESTART_WITH_DATA);
        }
        changeNetwork(member, next);
    }

    private void stop(Member member) {
        note(member.name() + " stops");
        visit(Event.SHUTDOWN);
        List.copyOf(world.calls).stream()
                .filter(call -> call.member() == member)
                .forEach(this::endOrCancel);
        world.time.settle();
        member.instance().stop();
        world.remove(member);
    }

    private void call() {
        call(member(), key(), someLimits());
    }

    private List<Declaration> someLimits() {
        List<Declaration> some = new ArrayList<>(world.limits);
        java.util.Collections.shuffle(some, random);
        return random.nextInt(3) == 0 ? some.subList(0, 1 + random.nextInt(some.size())) : List.of(limit());
    }

    private void call(Member member, String key, List<Declaration> limits) {
        call(member, key, limits, 0);
    }

    /** @param asked permits of each limit; 0: drawn */
    private void call(Member member, String key, List<Declaration> limits, long asked) {
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
                used.addAll(limit.features);
            }
        }
        if (parts.isEmpty()) {
            return;
        }
        if (parts.size() > 1) {
            used.add(Feature.SEVERAL_LIMITS);
        }
        if (world.isShared()) {
            used.add(Feature.REJECTION_CACHE);
        }
        SimulatedCall call = new SimulatedCall(member, world.model, parts);
        note("call of " + call);
        world.calls.add(call);
        call.begin();
        note("  " + call.state());
    }

    private void end(SimulatedCall call) {
        int cost = random.nextInt(4);
        note("end of " + call + ", costs " + cost + " times the estimate");
        call.end(cost);
    }

    private void cancel(SimulatedCall call) {
        note("cancels " + call);
        visit(Event.CANCEL);
        call.cancel();
    }

    private void burst() {
        burst(member(), key(), someLimits());
        if (random.nextBoolean()) {
            int cost = random.nextInt(8);
            note("all running calls end, at " + cost + " times the estimate");
            world.calls.stream().filter(SimulatedCall::isRunning).toList().forEach(call -> call.end(cost));
        }
    }

    private void burst(Member member, String key, List<Declaration> limits) {
        int number = 5 + random.nextInt(10);
        for (int i = 0; i < number; i++) {
            call(member, key, limits);
        }
    }

    private void pickCall(boolean running, java.util.function.Consumer<SimulatedCall> action) {
        List<SimulatedCall> some = world.calls.stream()
                .filter(call -> running ? call.isRunning() : call.isPending())
                .toList();
        if (!some.isEmpty()) {
            action.accept(some.get(random.nextInt(some.size())));
        }
    }

    private void pass() {
        Duration time = switch (random.nextInt(8)) {
            case 0, 1, 2 -> Duration.ofMillis(1 + random.nextInt(50));
            case 3, 4 -> Duration.ofMillis(100 + random.nextInt(400));
            case 5, 6 -> Duration.ofSeconds(1 + random.nextInt(3));
            default -> Duration.ofSeconds(5 + random.nextInt(40));
        };
        note(time + " pass");
        world.pass(time);
    }

    private void inspect(Declaration limit, String key, Member member) {
        note("looks at " + world.bucket(limit, key, member));
        world.inspect(limit, key, member);
    }

    private void override() {
        Declaration limit = limit();
        String plan = limit.plans().isEmpty() || random.nextBoolean()
                ? null
                : limit.plans().get(0);
        override(member(), limit, plan, random.nextInt(8));
    }

    private void override(Member member, Declaration limit, @Nullable String plan, int kind) {
        RateLimitOverride.Builder override = RateLimitOverride.builder();
        boolean rated = !limit.has(Feature.CONCURRENCY) && !limit.has(Feature.CALENDAR);
        boolean windows = limit.has(Feature.SLIDING_WINDOW) || limit.has(Feature.SLIDING_WINDOW_LOG);
        if (limit.has(Feature.CALENDAR)) {
            override.enabled(random.nextInt(3) > 0);
        } else {
            override.capacity(limit.drawCapacity());
            switch (rated && !windows ? kind : kind % 3) {
                case 0 -> override.enabled(random.nextInt(3) > 0);
                case 1, 2 -> {}
                case 3, 4 -> override.rate(List.of("2/s", "10/s", "10/m").get(random.nextInt(3)));
                case 5 -> override.rate("1000/s").capacity(1_000);
                default -> override.capacity(1_000_000);
            }
        }
        if (random.nextInt(3) > 0) {
            override.duration(Duration.ofMillis(500 + random.nextInt(5_000)));
        }
        RateLimitOverride built = override.build();
        boolean valid = world.isValid(limit, plan, built);
        note(member.name() + " overrides " + limit.name + (plan == null ? "" : "/" + plan) + " with " + built
                + (built.duration() == null ? "" : " for " + built.duration()) + (valid ? "" : ", which is invalid"));
        visit(Event.OVERRIDE_BEGINS);
        if (built.duration() != null) {
            visit(Event.OVERRIDE_ENDS);
        }
        admit(
                member,
                valid,
                () -> (plan == null
                                ? member.instance().admin()
                                : member.instance().admin().forPlan(plan))
                        .overrideAsync(limit.name, built, RateLimitAdmin.ANY_VERSION));
    }

    private void removeOverride() {
        Member member = member();
        Declaration limit = limit();
        String plan = limit.plans().isEmpty() || random.nextBoolean()
                ? null
                : limit.plans().get(0);
        note(member.name() + " removes the override of " + limit.name + (plan == null ? "" : "/" + plan));
        visit(Event.OVERRIDE_ENDS);
        admit(
                member,
                true,
                () -> (plan == null
                                ? member.instance().admin()
                                : member.instance().admin().forPlan(plan))
                        .removeOverrideAsync(limit.name, RateLimitAdmin.ANY_VERSION));
    }

    /** An operator's change succeeds, unless it is invalid or Redis fails. */
    private void admit(Member member, boolean valid, java.util.function.Supplier<CompletionStage<?>> change) {
        Throwable failure = failure(change.get());
        if (failure != null && valid && member.isWell() && member.instance().network() != null) {
            throw new AssertionError("a valid change is refused: " + failure, failure);
        }
        world.overridesMayHaveChanged();
    }

    private @Nullable Throwable failure(CompletionStage<?> change) {
        return change.<Throwable>handle((done, thrown) -> thrown)
                .toCompletableFuture()
                .getNow(null);
    }

    private void change(Event event) {
        change(event, member(), limit(), key());
    }

    private void change(Event event, Member member, Declaration limit, String key) {
        if (limit.has(Feature.CONCURRENCY) && event != Event.RESET) {
            return;
        }
        String bucket = world.bucket(limit, key, member);
        var admin = member.instance().admin().bucket(limit.name, key);
        long amount = 1 + random.nextInt(5);
        note(member.name() + " does " + event + " " + amount + " to " + bucket);
        visit(event);
        boolean[] certain = {false};
        Runnable asked = () -> {
            CompletionStage<?> change = switch (event) {
                case RESET -> admin.resetAsync();
                case GRANT -> admin.grantAsync(amount);
                case BLOCK -> admin.blockAsync(Duration.ofSeconds(amount));
                default -> admin.unblockAsync();
            };
            certain[0] = change.toCompletableFuture().isDone()
                    && !change.toCompletableFuture().isCompletedExceptionally();
        };
        if (member.instance().network() == null) {
            asked.run();
        } else {
            member.instance().network().waitedFor(asked);
        }
        Numbers numbers = SimulatedInstance.numbers(member.instance().limit(limit.name, null));
        switch (event) {
            case RESET -> world.model.reset(bucket, certain[0]);
            case GRANT -> world.model.granted(bucket, numbers, amount);
            case BLOCK -> world.model.blocked(bucket, numbers, amount * 1_000_000, certain[0]);
            default -> world.model.unblocked(bucket, numbers, certain[0]);
        }
        if (event == Event.RESET && !limit.has(Feature.INSTANCE_SCOPE)) {
            world.model.reset(bucket + " local " + member.name(), true);
        }
    }

    private void network() {
        Member member = member();
        if (member.instance().network() == null) {
            return;
        }
        State next = member.instance().network().state() != State.WELL && random.nextInt(3) > 0
                ? State.WELL
                : State.values()[random.nextInt(State.values().length)];
        network(member, next);
    }

    private void changeNetwork(Member member, State next) {
        if (member.instance().network() != null) {
            member.networkChanges(next);
            world.networkHasChanged();
        }
    }

    private void refresh() {
        Declaration limit = limit();
        limit.refresh();
        note("a refresh: " + limit);
        visit(Event.REFRESH);
        RateLimitSettings settings = world.settings();
        world.members.forEach(member -> member.instance().reconfigure(settings));
        world.configurationHasChanged();
    }

    private void visit(Event event) {
        coverage.visit(used, event);
    }

    /** Returns often the same limit, so that what happens meets what has happened before. */
    private Declaration limit() {
        return world.limits.get(random.nextBoolean() ? 0 : random.nextInt(world.limits.size()));
    }

    private Member member() {
        return world.members.get(random.nextInt(world.members.size()));
    }

    private String key() {
        return KEYS.get(random.nextInt(3) > 0 ? 0 : random.nextInt(KEYS.size()));
    }

    private void note(String what) {
        log.add(world.time.nanos() / 1_000_000 + " ms: " + what);
    }

    /** Returns the last events. */
    String last(int number) {
        List<String> declared =
                log.stream().filter(line -> line.contains("declares")).toList();
        return String.join("\n", declared) + "\n…\n"
                + String.join(
                        "\n",
                        log.subList(Math.max(declared.size(), log.size() - Math.min(number, log.size())), log.size()));
    }
}
