package io.ratelimit.simulation;

import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitAdmin.BucketStatus;
import io.ratelimit.RateLimitConfigurationException;
import io.ratelimit.RateLimitOverride;
import io.ratelimit.autoconfigure.SimulatedProperties;
import io.ratelimit.internal.change.SimulatedOverrides;
import io.ratelimit.internal.change.SimulatedOverrides.Stored;
import io.ratelimit.internal.limiter.AlgorithmCatalog;
import io.ratelimit.internal.limiter.LimitCatalog;
import io.ratelimit.internal.limiter.RateLimitSettings;
import io.ratelimit.redis.SimulatedServer;
import io.ratelimit.redis.store.SimulatedRedisStore;
import io.ratelimit.spi.BucketChange;
import io.ratelimit.testing.TestClock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.jspecify.annotations.Nullable;

/** A simulated application: its limits, instances, and what they share. */
final class World {

    private static final Duration STEP = Duration.ofMillis(250);

    final SimulatedTime time = new SimulatedTime();

    final Model model = new Model(time::micros);

    final List<Declaration> limits = new ArrayList<>();

    final List<Member> members = new ArrayList<>();

    final List<SimulatedCall> calls = new ArrayList<>();

    private final Random random;

    private final @Nullable SimulatedServer server;

    private final SimulatedChannel channel = new SimulatedChannel(time);

    private final SimulatedOverrides overrides;

    /** Has a network that always works. */
    private final @Nullable SimulatedRedisStore observer;

    private long offset = TestClock.TODAY;

    /** When what applies has changed last. */
    private long changed;

    /** When each instance has changed an override last. */
    private final Map<Member, Long> changes = new HashMap<>();

    /** When Redis has lost everything last. */
    private long lostAt = -Model.SECOND - 1;

    /** Whether everything has been found to apply, and nothing has changed since. */
    private boolean checked;

    private Map<String, Stored> stored = Map.of();

    private int started;

    private Map<String, Object> bound = Map.of();

    private @Nullable RateLimitSettings settings;

    World(Random random, @Nullable SimulatedServer server) {
        this.random = random;
        this.server = server;
        if (server == null) {
            overrides = SimulatedOverrides.ofThisInstance(this::overrideMicros);
            observer = null;
        } else {
            server.loseData();
            SimulatedNetwork clean = new SimulatedNetwork(time, server, this::serverMicros, random);
            overrides = clean.overrides();
            observer = new SimulatedRedisStore(clean, time.thread(), time::nanos);
        }
    }

    boolean isShared() {
        return server != null;
    }

    long serverMicros() {
        return time.micros() + offset;
    }

    /** Returns the time by which overrides end: those of one instance end by a clock that is never set back. */
    private long overrideMicros() {
        return isShared() ? serverMicros() : time.micros() + TestClock.TODAY;
    }

    /** Returns whether an application with this limit starts. */
    boolean accepts(Declaration limit) {
        try {
            new LimitCatalog(bind(limit.file, limit.environment), null, () -> false).complete();
            return true;
        } catch (RateLimitConfigurationException ex) {
            return false;
        }
    }

    private static RateLimitSettings bind(Map<String, Object> file, Map<String, Object> environment) {
        return SimulatedProperties.settings(file, environment)
                .with(AlgorithmCatalog.of(Map.of("own", Declaration.OWN)), List.of());
    }

    /** @throws RateLimitConfigurationException if the limits are refused */
    void start() {
        RateLimitSettings settings = settings();
        String name = "i" + started++;
        SimulatedInstance instance = server == null
                ? SimulatedInstance.inMemory(name, time, this::serverMicros, settings, overrides)
                : SimulatedInstance.overRedis(
                        name, time, settings, new SimulatedNetwork(time, server, this::serverMicros, random), channel);
        members.add(new Member(instance, time, model));
        checked = false;
    }

    /** Returns the configuration, which is bound again if a limit has been configured anew. */
    RateLimitSettings settings() {
        Map<String, Object> file = new LinkedHashMap<>();
        Map<String, Object> environment = new HashMap<>();
        limits.forEach(limit -> {
            file.putAll(limit.file);
            environment.putAll(limit.environment);
        });
        if (settings == null || !file.equals(bound)) {
            bound = file;
            settings = bind(file, environment);
        }
        return settings;
    }

    /** Lets time pass, and checks what may be observed meanwhile. */
    void pass(Duration whole) {
        for (Duration left = whole; !left.isNegative(); left = left.minus(STEP)) {
            long until = time.nanos() + (left.compareTo(STEP) < 0 ? left : STEP).toNanos();
            time.pass(Duration.ofNanos(until - time.nanos()));
            model.pass();
            members.forEach(Member::chargeKept);
            markUnsure();
            checkEffective();
            if (left.isZero()) {
                break;
            }
        }
    }

    private void markUnsure() {
        calls.removeIf(call -> call.isOver() && !call.isPending());
        for (SimulatedCall call : calls) {
            long since = call.member().faultySince();
            if (since >= 0) {
                List<Take> lost = call.held().stream()
                        .filter(take -> take.isShared() && time.micros() - since > take.hold() / 3)
                        .toList();
                model.unsure(lost);
            }
        }
    }

    void overridesMayHaveChanged() {
        stored = overrides.stored();
        configurationHasChanged();
    }

    /** Returns whether an instance knows what others have changed, or Redis has lost: they apply it within a second. */
    boolean knowsOverrides(Member member) {
        boolean lost = time.micros() - lostAt <= Model.SECOND;
        return !lost
                && changes.entrySet().stream()
                        .allMatch(by -> by.getKey() == member || time.micros() - by.getValue() > Model.SECOND);
    }

    void overrideHasChanged(Member by) {
        changes.put(by, time.micros());
        overridesMayHaveChanged();
    }

    void configurationHasChanged() {
        changed = time.micros();
        checked = false;
    }

    void networkHasChanged() {
        checked = false;
    }

    private Map<String, Attributes> overrides(String limit, long serverMicros) {
        Map<String, Attributes> active = new HashMap<>();
        stored.forEach((id, override) -> {
            String[] names = id.split("/", 2);
            if (names[0].equals(limit) && (override.end() == 0 || override.end() > serverMicros)) {
                active.put(names.length == 1 ? "" : names[1], attributes(override.attributes()));
            }
        });
        return active;
    }

    static Attributes attributes(RateLimitOverride override) {
        return new Attributes(
                override.capacity(),
                override.rate() == null ? null : Declaration.micros(override.rate()),
                override.maxWait() == null ? null : override.maxWait().toNanos() / 1_000,
                override.blockFor() == null
                        ? null
                        : override.blockFor().stream()
                                .map(time -> time.toNanos() / 1_000)
                                .filter(micros -> micros > 0)
                                .toList(),
                override.enabled(),
                override.dryRun());
    }

    Map<String, Attributes> expected(Declaration limit, long serverMicros) {
        return Attributes.effective(limit.configured, overrides(limit.name, serverMicros));
    }

    /** Returns whether what applies is valid with an override. */
    boolean isValid(Declaration limit, @Nullable String plan, RateLimitOverride override) {
        Map<String, Attributes> all = new HashMap<>(overrides(limit.name, overrideMicros()));
        all.put(plan == null ? "" : plan, attributes(override));
        return Attributes.areValid(limit.configured, all);
    }

    private void checkEffective() {
        if (checked || time.micros() - changed < Model.SECOND) {
            return;
        }
        checked = members.stream().allMatch(member -> member.isConnectedFor(Model.SECOND))
                && stored.values().stream().allMatch(override -> override.end() + Model.SECOND < overrideMicros());
        for (Declaration limit : limits) {
            Map<String, Attributes> now = expected(limit, overrideMicros());
            if (now.equals(expected(limit, overrideMicros() - Model.SECOND))) {
                for (Member member : members) {
                    if (member.isConnectedFor(Model.SECOND)) {
                        now.forEach((plan, expected) -> ModelInspections.effective(
                                member.name(),
                                plan.isEmpty() ? limit.name : limit.name + "/" + plan,
                                expected,
                                member.instance().attributes(limit.name, plan.isEmpty() ? null : plan)));
                    }
                }
            }
        }
    }

    String bucket(Declaration limit, String key, Member member) {
        String place = limit.has(Feature.INSTANCE_SCOPE) ? "of " + member.name() : "shared";
        return place + " " + limit.name + " " + key;
    }

    /** Asks the store itself what is left in a bucket. */
    void inspect(Declaration limit, String key, Member member) {
        RateLimit applied = member.instance().limit(limit.name, null);
        BucketStatus status = observer == null || limit.has(Feature.INSTANCE_SCOPE)
                ? member.instance().inspect(limit.name, key)
                : observer.store()
                        .change(applied, key, BucketChange.NONE)
                        .toCompletableFuture()
                        .join();
        Numbers numbers = SimulatedInstance.numbers(applied);
        model.inspections.resetAfter(
                bucket(limit, key, member), numbers, status.resetAfter().toNanos() / 1_000);
        model.inspections.remaining(bucket(limit, key, member), numbers, status.remaining());
    }

    void loseData() {
        server.loseData();
        model.changes.lost("shared");
        lostAt = time.micros();
        overridesMayHaveChanged();
    }

    void setClockBack(Duration by) {
        offset -= by.toNanos() / 1_000;
        model.changes.setBack(isShared() ? "shared" : "", by.toNanos() / 1_000);
        overridesMayHaveChanged();
    }

    List<Member> others(Member member) {
        return members.stream().filter(other -> other != member).toList();
    }

    void remove(Member member) {
        members.remove(member);
    }
}
