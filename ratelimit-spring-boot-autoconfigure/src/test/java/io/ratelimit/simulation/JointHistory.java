package io.ratelimit.simulation;

import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitAdmin.BucketStatus;
import io.ratelimit.RateLimitConfigurationException;
import io.ratelimit.RateLimitPlan;
import io.ratelimit.autoconfigure.SimulatedProperties;
import io.ratelimit.internal.limiter.EffectiveLimit;
import io.ratelimit.internal.limiter.JointLimits;
import io.ratelimit.internal.limiter.RateLimitSettings;
import io.ratelimit.redis.SimulatedServer;
import io.ratelimit.simulation.JointLimit.Place;
import io.ratelimit.simulation.SimulatedNetwork.State;
import io.ratelimit.spi.BucketChange;
import io.ratelimit.spi.Charge;
import io.ratelimit.spi.RateLimitStore;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeSet;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/** Calls with several limits, in two servers that are slow and in memory: drawn from a seed, and told to the model. */
final class JointHistory {

    private static final List<Place> SERVERS = List.of(Place.HOME, Place.EU);

    private final Random random;

    private final SimulatedTime time = new SimulatedTime();

    private final JointModel model;

    private final boolean clustered;

    private final Map<Place, JointServer> servers = new LinkedHashMap<>();

    private final List<JointInstance> instances = new ArrayList<>();

    private final List<JointLimit> limits = new ArrayList<>();

    /** The limits of each method. */
    private final List<List<JointLimit>> methods = new ArrayList<>();

    private final List<JointCall> calls = new ArrayList<>();

    private final TreeSet<String> keys = new TreeSet<>();

    private final List<String> log = new ArrayList<>();

    private final boolean fails;

    /** Grows, so that keys are fresh now and then. */
    private int generation;

    /** @param redis {@code null}: in memory */
    JointHistory(long seed, @Nullable SimulatedServer redis) {
        this.random = new Random(seed);
        this.clustered = redis != null && random.nextBoolean();
        this.fails = random.nextInt(4) == 0;
        this.model = new JointModel(time::micros, clustered);
        if (redis != null) {
            redis.loseData();
        }
        SERVERS.forEach(place -> servers.put(place, new JointServer(redis, clustered, time, random)));
        int number = 2 + random.nextInt(4);
        for (int i = 0; i < number; i++) {
            JointLimit limit = new JointLimit("l" + i, random, redis != null);
            limits.add(limit);
            note("declares " + limit);
        }
        start();
    }

    private void start() {
        Map<String, Object> file = new LinkedHashMap<>();
        limits.forEach(limit -> file.putAll(limit.file));
        RateLimitSettings settings = SimulatedProperties.settings(file, Map.of());
        SimulatedChannel channel = new SimulatedChannel(time);
        int number = 1 + random.nextInt(2);
        for (int i = 0; i < number; i++) {
            instances.add(new JointInstance(
                    "i" + i, time, random, settings, servers.get(Place.HOME), servers.get(Place.EU), channel));
        }
        if (random.nextBoolean()) {
            instances.forEach(instance -> SERVERS.forEach(place -> instance.change(place, State.LATE)));
        }
        limits.forEach(limit -> methods.add(List.of(limit)));
        for (int i = 0; i < 3; i++) {
            List<JointLimit> some = new ArrayList<>(limits);
            Collections.shuffle(some, random);
            declare(some.subList(0, 2 + random.nextInt(some.size() - 1)));
        }
    }

    /** Declares a method with these limits, or with fewer if the start-up refuses them. */
    private void declare(List<JointLimit> some) {
        while (some.size() > 1) {
            List<JointLimit> left = some;
            if (!mayBeUndone(some)) {
                try {
                    instances.forEach(instance -> JointLimits.check(
                            instance.catalog,
                            left.stream()
                                    .map(limit -> effective(instance, limit))
                                    .toList(),
                            "method"));
                    methods.add(some);
                    note("declares a method of "
                            + some.stream().map(limit -> limit.name).toList());
                    return;
                } catch (RateLimitConfigurationException ex) {
                    // As it should be.
                }
            }
            some = some.subList(0, some.size() - 1);
        }
    }

    /** Returns whether two slots with limits that block keys are on one call, as the documentation warns of. */
    private boolean mayBeUndone(List<JointLimit> some) {
        return clustered
                && some.stream()
                                .filter(JointLimit::blocks)
                                .map(limit -> limit.isOfTenant)
                                .distinct()
                                .count()
                        > 1;
    }

    private static EffectiveLimit effective(JointInstance instance, JointLimit limit) {
        return instance.catalog.effective(limit.name).orElseThrow();
    }

    /** @throws AssertionError if the model is violated */
    void play(int events) {
        for (int i = 0; i < events; i++) {
            event();
            time.settle();
            model.pass();
        }
        finish();
    }

    private void event() {
        switch (random.nextInt(30)) {
            case 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11 -> call(one(instances), one(methods));
            case 12 -> burst();
            case 13, 14, 15, 16, 17, 18 -> end();
            case 19 -> cancel();
            case 20, 21 -> network();
            case 22 -> generation++;
            case 23 -> exhausted();
            case 24 -> releaseAtTheLastMoment();
            case 25 -> contended();
            default -> pass();
        }
    }

    private void burst() {
        JointInstance instance = one(instances);
        List<JointLimit> method = one(methods);
        int number = 2 + random.nextInt(4);
        for (int i = 0; i < number; i++) {
            call(instance, method);
        }
    }

    /** Calls that one limit rejects, and calls of another limit on the same method alone. */
    private void exhausted() {
        generation++;
        JointInstance instance = one(instances);
        List<JointLimit> method = one(methods);
        JointLimit exhausted = one(method);
        JointLimit other = one(method);
        note("calls with " + exhausted.name + " exhausted, and with " + other.name + " alone");
        call(instance, List.of(exhausted), "alice", limit -> limit.capacity);
        pass(Duration.ofMillis(random.nextInt(100)));
        for (int i = 0; i < 3; i++) {
            call(instance, List.of(other), "alice", limit -> 1L);
            call(instance, method, "alice", limit -> limit == other ? other.capacity : 1);
            pass(Duration.ofMillis(random.nextInt(random.nextBoolean() ? 2 : 40)));
            call(instance, List.of(other), "alice", limit -> 1L);
        }
    }

    /** A limit is exhausted while a call with it is decided, and other calls need what that call takes meanwhile. */
    private void contended() {
        generation++;
        JointInstance instance = one(instances);
        List<JointLimit> method = one(methods);
        JointLimit exhausted = one(method);
        JointLimit other = one(method);
        note("calls while " + exhausted.name + " is contended, and with " + other.name + " alone");
        call(instance, List.of(other), "alice", limit -> 1L);
        pass(Duration.ofMillis(random.nextInt(6)));
        call(instance, method, "alice", limit -> limit == other ? other.capacity : 1);
        pass(Duration.ofMillis(random.nextInt(random.nextBoolean() ? 1 : 40)));
        call(one(instances), List.of(exhausted), "alice", limit -> limit.capacity);
        for (int i = 0; i < 8; i++) {
            pass(Duration.ofMillis(random.nextInt(i < 3 ? 2 : 40)));
            call(one(instances), List.of(other), "alice", limit -> 1L);
        }
    }

    /** Permits are released just before the wait for them ends, and other calls need what the call that waits takes last. */
    private void releaseAtTheLastMoment() {
        generation++;
        JointInstance instance = one(instances);
        List<JointLimit> method = one(methods);
        List<JointLimit> held = method.stream()
                .filter(limit -> limit.kind == JointLimit.Kind.HELD)
                .toList();
        if (held.isEmpty()) {
            return;
        }
        note("permits are released at the last moment");
        JointLimit full = one(held);
        call(instance, List.of(full), "alice", limit -> limit.capacity);
        JointCall holder = calls.get(calls.size() - 1);
        pass(Duration.ofMillis(100));
        call(instance, method, "alice", limit -> 1L);
        JointCall waiting = calls.get(calls.size() - 1);
        long left = waiting.sent + waiting.longestWait() - time.micros() - random.nextInt(60_000);
        pass(Duration.of(Math.max(0, left), ChronoUnit.MICROS));
        if (holder.isRunning()) {
            note("end of " + holder);
            holder.end(false);
        }
        JointLimit other = one(method);
        for (int i = 0; i < 5; i++) {
            pass(Duration.ofMillis(random.nextInt(30)));
            call(instance, List.of(other), "alice", limit -> limit.capacity);
        }
    }

    private void call(JointInstance instance, List<JointLimit> method) {
        call(
                instance,
                method,
                random.nextInt(3) > 0 ? "alice" : "bob",
                limit -> random.nextInt(5) > 0 ? 1 : 1 + random.nextLong(limit.capacity));
    }

    private void call(
            JointInstance instance, List<JointLimit> method, String user, ToLongFunction<JointLimit> permits) {
        JointCall call = new JointCall(calls.size(), instance, time, model);
        for (JointLimit limit : method) {
            RateLimitPlan plan = one(limit.plans);
            EffectiveLimit effective = effective(instance, limit);
            RateLimit applied = plan == null ? effective.get() : effective.plan(plan);
            String key = limit.key(user + generation, "acme" + generation);
            JointCharge part = new JointCharge(call, limit, new Charge(applied, key, permits.applyAsLong(limit)));
            call.charges.add(part);
            model.add(bucket(limit, key, instance), part);
            keys.add(key);
        }
        calls.add(call);
        note("call " + call);
        call.begin(random.nextBoolean());
        note("  " + call);
    }

    private static String bucket(JointLimit limit, String key, JointInstance instance) {
        return limit.name + " " + key + (limit.place == Place.INSTANCE ? " of " + instance.name : "");
    }

    private void end() {
        List<JointCall> running = calls.stream().filter(JointCall::isRunning).toList();
        if (!running.isEmpty()) {
            JointCall call = one(running);
            note("end of " + call);
            call.end(random.nextInt(4) == 0);
        }
    }

    private void cancel() {
        List<JointCall> pending = calls.stream().filter(JointCall::isPending).toList();
        if (!pending.isEmpty()) {
            JointCall call = one(pending);
            note("cancels " + call);
            call.cancel();
        }
    }

    private void network() {
        JointInstance instance = one(instances);
        Place place = one(SERVERS);
        State next = switch (random.nextInt(6)) {
            case 0 -> State.WELL;
            case 1 -> fails ? State.HANGS : State.LATE;
            case 2 -> fails ? State.CUT : State.LATE;
            default -> State.LATE;
        };
        note("the network of " + instance.name + " to " + place + ": " + next);
        instance.change(place, next);
    }

    private void pass() {
        Duration passing = Duration.ofMillis(
                switch (random.nextInt(8)) {
                    case 0, 1, 2 -> 1 + random.nextInt(20);
                    case 3, 4, 5 -> 20 + random.nextInt(200);
                    case 6 -> 200 + random.nextInt(800);
                    default -> 1_000 + random.nextInt(3_000);
                });
        note(passing + " pass");
        pass(passing);
    }

    private void pass(Duration passing) {
        time.pass(passing);
        model.pass();
    }

    /** All networks work, all calls are decided and end, and nothing is held any more. */
    private void finish() {
        note("all calls end");
        instances.forEach(instance -> SERVERS.forEach(place -> instance.change(place, State.WELL)));
        for (int i = 0; i < 100; i++) {
            pass(Duration.ofMillis(200));
            calls.stream().filter(JointCall::isRunning).toList().forEach(call -> call.end(false));
        }
        calls.forEach(call -> model.check(call.isDone(), "never decided: %s", call));
        // Permits that were lost with a reply come back by their time.
        pass(Duration.ofSeconds(fails ? 50 : 3));
        instances.forEach(JointInstance::stop);
        pass(Duration.ofSeconds(1));
        model.checkDecisions();
        for (JointLimit limit : limits) {
            for (String key : keys) {
                if (limit.place == Place.INSTANCE) {
                    instances.forEach(instance -> inspect(limit, key, instance, instance.memory()));
                } else {
                    inspect(
                            limit,
                            key,
                            instances.get(0),
                            servers.get(limit.place).memory());
                }
            }
        }
    }

    private void inspect(JointLimit limit, String key, JointInstance instance, RateLimitStore store) {
        BucketStatus status =
                JointInstance.now(store.change(effective(instance, limit).get(), key, BucketChange.NONE));
        model.checkBucket(bucket(limit, key, instance), limit, status.remaining(), status.isBlocked());
    }

    private <T> T one(List<T> some) {
        return some.get(random.nextInt(some.size()));
    }

    private void note(String what) {
        log.add(time.nanos() / 1_000_000 + " ms: " + what);
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
