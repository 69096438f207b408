package io.ratelimit.simulation;

import io.ratelimit.RateLimitAlgorithm;
import io.ratelimit.testing.OwnAlgorithms;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;

/** A limit of a simulated application: drawn from what is allowed, written as properties, and told to the model. */
@SuppressWarnings({"EnumOrdinal", "IntLongMath"}) // Small numbers.
final class Declaration {

    private static final List<String> RATES =
            List.of("1/s", "5/s", "5/s", "20/s", "100/s", "1/m", "30/m", "20/h", "1/d", "1/d");

    /** What a sliding window of any capacity can have. */
    private static final List<String> WHOLE = List.of("1/s", "1/m", "1/h");

    /** Counts in windows. */
    static final RateLimitAlgorithm OWN = new OwnAlgorithms.Batches();

    private static final List<String> BLOCKS = List.of("1s", "10m", "2s,1m");

    private static final Map<String, Long> UNITS =
            Map.of("ms", 1_000L, "s", 1_000_000L, "m", 60_000_000L, "h", 3_600_000_000L, "d", 86_400_000_000L);

    final String name;

    final Map<String, Object> file = new LinkedHashMap<>();

    final Map<String, Object> environment = new HashMap<>();

    final Set<Feature> features = EnumSet.noneOf(Feature.class);

    /** What is configured of the limit, whose plan is empty, and of its plans. */
    final Map<String, Attributes> configured = new TreeMap<>();

    private final Random random;

    private int lease;

    private boolean planBlocks;

    private Declaration(String name, Random random) {
        this.name = name;
        this.random = random;
    }

    static Declaration draw(String name, Random random, boolean shared) {
        Declaration drawn = new Declaration(name, random);
        drawn.draw(shared);
        return drawn;
    }

    /** Declares a limit of large numbers whose costs are known afterwards. */
    static Declaration ofCosts(String name, Random random) {
        return new Declaration(name, random)
                .with(Feature.TOKEN_BUCKET, Feature.PERMITS_AFTER)
                .with(1_000, "100/s", "");
    }

    /** Declares a limit of each instance that blocks callers. */
    static Declaration ofBlocks(String name, Random random) {
        return new Declaration(name, random)
                .with(Feature.TOKEN_BUCKET, Feature.INSTANCE_SCOPE, Feature.BLOCK_FOR)
                .with(1, "1/s", "10m");
    }

    /** Declares a total that is soon exhausted. */
    static Declaration ofTotal(String name, Random random) {
        return new Declaration(name, random).with(Feature.TOKEN_BUCKET).with(3, "1/d", "");
    }

    private Declaration with(Feature... some) {
        features.addAll(List.of(some));
        return this;
    }

    private Declaration with(long capacity, String rate, String blocks) {
        put("capacity", capacity);
        put("rate", rate);
        if (has(Feature.INSTANCE_SCOPE)) {
            put("scope", "instance");
        }
        if (!blocks.isEmpty()) {
            put("block-for", blocks);
        }
        List<Long> blockFor = blocks.isEmpty() ? List.of() : times(blocks);
        configured.put("", new Attributes(capacity, micros(rate), 0L, blockFor, true, false));
        return this;
    }

    /** Draws a combination without a user, which is refused. */
    static Declaration drawRefused(String name, Random random) {
        Declaration drawn = new Declaration(name, random);
        drawn.put("rate", drawn.one(RATES));
        drawn.put("capacity", 40);
        drawn.put("lease", 1 + random.nextInt(40));
        drawn.put("block-for", drawn.one(BLOCKS));
        return drawn;
    }

    boolean has(Feature feature) {
        return features.contains(feature);
    }

    /** Returns whether a rejection by this limit, for callers with any plan, blocks the key. */
    boolean blocks() {
        return planBlocks || (has(Feature.BLOCK_FOR) && !has(Feature.DRY_RUN));
    }

    List<String> plans() {
        return configured.keySet().stream().filter(plan -> !plan.isEmpty()).toList();
    }

    private void draw(boolean shared) {
        Feature algorithm = Feature.values()[random.nextInt(Feature.CONCURRENCY.ordinal() + 1)];
        algorithm = random.nextInt(3) == 0 ? Feature.TOKEN_BUCKET : algorithm;
        features.add(algorithm);
        put("algorithm", algorithm == Feature.OWN_ALGORITHM ? OWN.name() : algorithm.name());
        long capacity = 1 + random.nextInt(random.nextBoolean() ? 3 : 20);
        put("capacity", capacity);
        boolean even = algorithm == Feature.TOKEN_BUCKET || algorithm == Feature.LEAKY_BUCKET;
        String rate = one(algorithm == Feature.SLIDING_WINDOW ? WHOLE : RATES);
        List<Long> blocks = List.of();
        long wait = 0;
        if (algorithm == Feature.CONCURRENCY) {
            put("hold", one(List.of("3s", "30s")));
            rate = null;
        } else if (algorithm == Feature.FIXED_WINDOW && chance(3)) {
            features.add(Feature.CALENDAR);
            file.remove(property("capacity"));
            put("rate", capacity + "/day");
            rate = null;
        } else {
            put("rate", rate);
            if (algorithm == Feature.TOKEN_BUCKET && chance(4)) {
                features.add(Feature.INTERVAL);
                put("refill", "interval");
            } else if (even && chance(5)) {
                features.add(Feature.MAX_WAIT);
                put("max-wait", "500ms");
                wait = 500_000;
            }
        }
        if (shared && chance(5)) {
            features.add(Feature.INSTANCE_SCOPE);
            put("scope", "instance");
        }
        if (algorithm != Feature.CONCURRENCY) {
            boolean leasable = algorithm == Feature.TOKEN_BUCKET || algorithm == Feature.FIXED_WINDOW;
            boolean plain = !has(Feature.INTERVAL) && !has(Feature.MAX_WAIT) && !has(Feature.CALENDAR);
            if (shared && !has(Feature.INSTANCE_SCOPE) && leasable && plain && chance(3)) {
                features.add(Feature.LEASE);
                lease = 1 + random.nextInt((int) capacity);
                put("lease", lease);
            } else {
                if (chance(has(Feature.INSTANCE_SCOPE) ? 2 : 4)) {
                    features.add(Feature.BLOCK_FOR);
                    String times = one(BLOCKS);
                    put("block-for", times);
                    blocks = times(times);
                }
                if (even && !has(Feature.INTERVAL) && chance(3)) {
                    features.add(Feature.PERMITS_AFTER);
                } else if (even && chance(3)) {
                    features.add(Feature.REFUND_ON);
                }
            }
            if (chance(10)) {
                features.add(Feature.DRY_RUN);
                put("dry-run", true);
            }
        }
        configured.put("", new Attributes(capacity, micros(rate), wait, blocks, true, has(Feature.DRY_RUN)));
        if (!has(Feature.CALENDAR) && chance(3)) {
            drawPlans(capacity, rate != null && algorithm != Feature.SLIDING_WINDOW);
        }
    }

    private void drawPlans(long capacity, boolean rated) {
        features.add(Feature.PLANS);
        long more = capacity * (2 + random.nextInt(3));
        boolean both = chance(20);
        String faster = rated && (both || chance(4)) ? one(List.of("40/s", "1/s")) : null;
        put("plans.gold-plan.capacity", more);
        if (faster != null && both) {
            environment.put(
                    "RATELIMIT_LIMITS_" + name.toUpperCase(java.util.Locale.ROOT) + "_PLANS_GOLDPLAN_RATE", faster);
        } else if (faster != null) {
            put("plans.gold-plan.rate", faster);
        }
        configured.put("goldplan", new Attributes(more, micros(faster), null, null, null, null));
        if (chance(2)) {
            drawOwnEffects();
        }
        if (chance(3)) {
            put("plans.staff.enabled", false);
            configured.put("staff", new Attributes(null, null, null, null, false, null));
        }
    }

    /** A plan whose callers are blocked, or not, and one that only counts, by the numbers of the limit. */
    private void drawOwnEffects() {
        boolean trial = chance(2);
        put("plans.trial.dry-run", trial);
        configured.put("trial", new Attributes(null, null, null, null, null, trial));
        if (lease == 0 && !has(Feature.CONCURRENCY)) {
            String times = chance(3) ? "0s" : one(BLOCKS);
            put("plans.free.block-for", times);
            List<Long> blocks = times.equals("0s") ? List.of() : times(times);
            configured.put("free", new Attributes(null, null, null, blocks, null, null));
            planBlocks = !blocks.isEmpty() || has(Feature.BLOCK_FOR);
        }
    }

    private void put(String attribute, Object value) {
        file.put(property(attribute), value.toString());
    }

    private String property(String attribute) {
        return "ratelimit.limits." + name + "." + attribute;
    }

    /** Draws another configuration of the same limit, as a refresh finds it. */
    void refresh() {
        if (has(Feature.CALENDAR)) {
            return;
        }
        long capacity = drawCapacity();
        put("capacity", capacity);
        configured.merge(
                "", new Attributes(capacity, null, null, null, null, null), (known, changed) -> changed.over(known));
    }

    /** Draws another capacity that is valid. */
    long drawCapacity() {
        return lease + 1 + random.nextInt(20);
    }

    private boolean chance(int oneIn) {
        return random.nextInt(oneIn) == 0;
    }

    private <T> T one(List<T> some) {
        return some.get(random.nextInt(some.size()));
    }

    static List<Long> times(String text) {
        List<Long> times = new ArrayList<>();
        for (String time : text.split(",", -1)) {
            String unit = time.replaceAll("[0-9]", "");
            times.add(Long.parseLong(time.replaceAll("[a-z]", "")) * UNITS.get(unit));
        }
        return times;
    }

    /** Returns a rate as permits and microseconds. */
    static String micros(String rate) {
        if (rate == null) {
            return null;
        }
        String[] parts = rate.split("/", -1);
        return parts[0] + "/" + UNITS.get(parts[1]);
    }

    @Override
    public String toString() {
        return file.values().stream().map(Object::toString).toList() + (environment.isEmpty() ? "" : " " + environment);
    }
}
