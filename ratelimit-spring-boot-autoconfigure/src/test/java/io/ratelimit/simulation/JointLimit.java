package io.ratelimit.simulation;

import io.ratelimit.RateLimitPlan;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.jspecify.annotations.Nullable;

/**
 * A limit of a history of joint calls: drawn from what is allowed, with plans of the configuration and of code. All plans have one
 * capacity and rate, so that each charge counts for all of them.
 */
final class JointLimit {

    /** How permits come back. */
    enum Kind {
        /** Not in the time of a history. */
        COUNTED,
        /** Soon, also while a call is decided. */
        FAST,
        /** When the call ends. */
        HELD
    }

    /** Which store decides. */
    enum Place {
        HOME,
        EU,
        INSTANCE
    }

    final String name;

    final Kind kind;

    final Place place;

    final long capacity;

    final long lease;

    /** Whether all users of a tenant share the bucket. */
    final boolean isOfTenant;

    final Map<String, Object> file = new LinkedHashMap<>();

    /** The plans of callers; {@code null}: none. */
    final List<@Nullable RateLimitPlan> plans = new ArrayList<>();

    private final Random random;

    private boolean blocks;

    /** @param leases whether stores can lease permits */
    JointLimit(String name, Random random, boolean leases) {
        this.name = name;
        this.random = random;
        this.kind = random.nextInt(6) == 0 ? Kind.FAST : random.nextInt(5) < 2 ? Kind.HELD : Kind.COUNTED;
        this.place = one(List.of(Place.HOME, Place.EU, Place.INSTANCE));
        this.isOfTenant = random.nextInt(3) == 0;
        String algorithm = one(List.of("token_bucket", "fixed_window", "sliding_window", "sliding_window_log"));
        boolean leasable = algorithm.equals("token_bucket") || algorithm.equals("fixed_window");
        boolean leased =
                leases && leasable && kind == Kind.COUNTED && place != Place.INSTANCE && random.nextInt(3) == 0;
        this.capacity = kind == Kind.FAST ? 20 : 1 + random.nextInt(leased ? 20 : 4);
        this.lease = leased ? 1 + random.nextInt((int) capacity) : 0;
        plans.add(null);
        put("capacity", capacity);
        if (place == Place.INSTANCE) {
            put("scope", "instance");
        } else {
            put("on-store-failure", "throw");
        }
        if (place == Place.EU) {
            put("redis", "eu");
        }
        if (kind == Kind.HELD) {
            drawHeld();
        } else {
            put("algorithm", kind == Kind.FAST ? "token_bucket" : algorithm);
            put("rate", kind == Kind.FAST ? "200/s" : capacity + "/d");
            drawCounted();
        }
    }

    private void drawHeld() {
        put("algorithm", "concurrency");
        if (random.nextInt(4) > 0) {
            put("max-wait", one(List.of("300ms", "2s", "5s")));
        }
        trial();
        if (random.nextInt(3) == 0) {
            put("plans.patient.max-wait", one(List.of("0s", "1s", "5s")));
            plans.add(RateLimitPlan.named("patient"));
        }
        if (random.nextInt(3) == 0) {
            plans.add(RateLimitPlan.named("hasty").maxWait(Duration.ofMillis(100 + random.nextInt(900))));
        }
    }

    private void drawCounted() {
        if (lease > 0) {
            put("lease", lease);
        } else if (random.nextInt(3) == 0) {
            blocks = true;
            put("block-for", "10m");
        }
        trial();
        if (random.nextInt(3) == 0) {
            put("plans.free.block-for", blocks || lease > 0 ? "0s" : "10m");
            blocks |= lease == 0;
            plans.add(RateLimitPlan.named("free"));
        }
        if (random.nextInt(2) == 0) {
            // Refused beside a lease, and beside another store if it alone blocks: then the limit's own numbers apply.
            put("plan-expression", "#plan");
            plans.add(RateLimitPlan.named("contract").blockFor(Duration.ofMinutes(10)));
        }
    }

    private void trial() {
        if (random.nextInt(8) == 0) {
            put("dry-run", true);
        }
        if (random.nextInt(3) == 0) {
            put("plans.staff.dry-run", random.nextInt(4) > 0);
            plans.add(RateLimitPlan.named("staff"));
        }
        if (random.nextInt(4) == 0) {
            plans.add(RateLimitPlan.named("trial").dryRun(true));
        }
    }

    /** Returns whether the key can be blocked for some callers, by the configuration. */
    boolean blocks() {
        return blocks;
    }

    String key(String user, String tenant) {
        return isOfTenant ? tenant : user;
    }

    private void put(String attribute, Object value) {
        file.put("ratelimit.limits." + name + "." + attribute, value.toString());
    }

    private <T> T one(List<T> some) {
        return some.get(random.nextInt(some.size()));
    }

    @Override
    public String toString() {
        return file + " by " + (isOfTenant ? "tenant" : "user") + ", plans "
                + plans.stream().map(plan -> plan == null ? "-" : plan.name()).toList();
    }
}
