package io.ratelimit.simulation;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The bounds of one bucket. */
@SuppressWarnings("LongDoubleConversion") // Small numbers.
final class BucketBounds {

    /** A clock that is set back shows again what was taken so long ago. */
    private static final long REMEMBERED = 130_000_000;

    private static final int RULES = 2;

    /**
     * What was taken from a window.
     *
     * @param from when it was taken at the earliest
     * @param to when it counts as taken at the latest
     */
    record Entry(Take take, double permits, boolean certain, long from, long to) {

        Entry at(long now) {
            return new Entry(take, permits, certain, from, Math.max(to, now));
        }

        Entry uncertain() {
            return new Entry(take, permits, false, from, to);
        }
    }

    /**
     * What a call has cost beyond its estimate.
     *
     * @param due when the store has charged it at the latest
     */
    private record Cost(Numbers rule, double permits, long due) {}

    final String name;

    /** What certainly counts as taken, by each rule that calls were decided by lately. */
    final Map<Numbers, Double> least = new LinkedHashMap<>();

    private final Map<Numbers, Long> knownSince = new HashMap<>();

    double most;

    long at;

    double fastest;

    double slowest = Double.MAX_VALUE;

    long shortest = Long.MAX_VALUE;

    long longest;

    @Nullable
    Numbers last;

    final List<Entry> entries = new ArrayList<>();

    final Set<Take> flying = new LinkedHashSet<>();

    /** Calls without a reply, which the store may still decide. */
    final Set<Take> unanswered = new LinkedHashSet<>();

    /** Until then, rejections may be those of before a reset, a grant or a refund. */
    long graceUntil;

    /** The store's clock was set back, and no call has told the store since how much time has passed. */
    boolean frozen;

    /** Since the clock was set back, only the store knows when what was taken before comes back. */
    boolean isDoubted;

    long usedAt;

    /** When the store has told the time last. */
    long knownAt;

    boolean severalRules;

    /** By which calls are decided, since nothing was taken, and after how many calls each was used first. */
    final Map<Numbers, Long> rules = new HashMap<>();

    /** Since nothing was taken, a rule may have counted more than its capacity, which it then counts as less. */
    private boolean isCut;

    /**
     * A reply was late or lost, the clock was set back, or what was kept in an outage was charged, so that the bounds are wide until
     * nothing is taken.
     */
    boolean isVague;

    /** When everything was forgotten, so that earlier charges cannot be refunded. */
    long forgottenAt = -1;

    /** How often permits were granted. Of charges under way meanwhile, they may have ended any part. */
    int grants;

    long grantedAt = -1;

    /** Costs that calls have told of, and that the store may not have charged yet: until then nothing of them comes back. */
    private final List<Cost> costs = new ArrayList<>();

    /**
     * Refunds under way of charges from before a reset or a grant: they may return what other calls have taken since (ADR 15, ADR
     * 43).
     */
    private double refunding;

    /** How many calls were sent. */
    long calls;

    final BlockBounds blocks = new BlockBounds();

    /** Calls that hold permits, and that the store knows of. */
    final Set<Take> held = new LinkedHashSet<>();

    /** Until when the permits of calls may be held that have ended, or that the store may not know. */
    final Map<Take, Long> maybe = new LinkedHashMap<>();

    final ForgottenLeases forgottenLeases = new ForgottenLeases();

    BucketBounds(String name, long now) {
        this.name = name;
        this.at = now;
    }

    void thaw() {
        knownAt = at;
        if (frozen) {
            frozen = false;
            blocks.thaw(at);
        }
    }

    /**
     * Returns whether single decisions can be checked: since the bucket was full, all were made at once, so that their order is known,
     * and by one rule, whose permits are not leased. An instance that decides alone is not asked either: it may have charged before.
     * For other buckets, the traces of the stores' contract compare each decision with exact models.
     */
    boolean isExact(Numbers numbers) {
        boolean atOnce = flying.stream().allMatch(take -> take.sent == at);
        return atOnce && !isVague && !severalRules && numbers.lease() == 0 && !name.contains(" local ");
    }

    void use(Numbers numbers) {
        usedAt = at;
        if (numbers.kind() == Numbers.Kind.CONCURRENCY) {
            return;
        }
        if (last != null && !last.equals(numbers)) {
            severalRules = true;
            entries.replaceAll(entry -> entry.at(at));
        }
        last = numbers;
        rules.putIfAbsent(numbers, calls);
        fastest = Math.max(fastest, numbers.rate());
        slowest = Math.min(slowest, numbers.rate());
        shortest = Math.min(shortest, numbers.window());
        longest = Math.max(longest, numbers.window());
    }

    /** The store has a state of the rule by now. */
    void know(Numbers numbers) {
        know(numbers, at);
    }

    /** @param since when the store has the state for certain */
    private void know(Numbers numbers, long since) {
        if (numbers.kind() == Numbers.Kind.CONCURRENCY) {
            return;
        }
        if (!least.containsKey(numbers)) {
            // The store keeps the states of three rules, not always those used last (ADR 10). A new one begins with
            // permits that the model does not know.
            if (least.size() >= RULES) {
                least.clear();
            }
            least.put(numbers, 0.0);
            knownSince.put(numbers, since);
        }
        knownSince.merge(numbers, since, Math::min);
    }

    void pass(long now) {
        for (Cost cost : List.copyOf(costs)) {
            if (cost.due <= now) {
                passUntil(Math.max(at, cost.due));
                costs.remove(cost);
                most += cost.permits;
                charged();
                know(cost.rule, Long.MAX_VALUE);
            }
        }
        passUntil(now);
    }

    private void passUntil(long now) {
        long passed = Math.max(0, now - at);
        at = now;
        least.replaceAll((rule, permits) -> Math.max(0, permits - rule.rate() * passed));
        if (least.values().stream().noneMatch(permits -> permits > 0)) {
            least.clear();
        }
        if (frozen) {
            entries.replaceAll(entry -> entry.at(now));
        } else if (fastest > 0) {
            most = Math.max(0, most - slowest * passed);
        }
        entries.removeIf(entry -> entry.to + 2 * longest + REMEMBERED < now);
        maybe.values().removeIf(until -> until < now);
        if (last != null && flying.isEmpty() && costs.isEmpty() && unanswered.isEmpty() && !isDoubted && isFull(last)) {
            isVague = false;
            severalRules = false;
            isCut = false;
            rules.clear();
        }
    }

    /** Returns whether certainly nothing is taken. */
    private boolean isFull(Numbers numbers) {
        return numbers.kind() == Numbers.Kind.EVEN ? most <= 0 : most <= 0 && entriesSince(at - 2 * longest) <= 0;
    }

    /** Returns whether each rule returns what is refunded of the charge: not what one has cut off, nor what a new one has adopted. */
    boolean isReturnedByAll(Take take) {
        return rules.size() == 1
                || (!isCut
                        && rules.size() <= RULES + 1
                        && rules.values().stream().allMatch(first -> first <= take.number));
    }

    /** A call may have been charged. */
    void charged() {
        isCut |= rules.keySet().stream().anyMatch(rule -> most > rule.capacity());
    }

    double mostUsed(Numbers numbers) {
        return mostUsed(numbers, at);
    }

    /** Returns how much may have counted as taken at some time since then. */
    double mostUsed(Numbers numbers, long since) {
        double meanwhile = fastest * (at - since);
        return switch (numbers.kind()) {
            case EVEN -> most + charging() + meanwhile;
            case BATCHES -> most + charging() + meanwhile + numbers.capacity() * (1 + Model.ROUNDING);
            case WINDOWS, OWN -> entriesSince(since - 2 * Math.max(longest, numbers.window()));
            case LOG -> entriesSince(since - Math.max(longest, numbers.window()));
            case CONCURRENCY -> heldAtMost();
        };
    }

    double entriesSince(long time) {
        return entries.stream()
                .filter(entry -> entry.to >= time)
                .mapToDouble(Entry::permits)
                .sum();
    }

    double leastUsed(Numbers numbers) {
        return switch (numbers.kind()) {
            case EVEN, BATCHES, WINDOWS, OWN -> Math.max(0, least.getOrDefault(numbers, 0.0) - maybeRefunded());
            case LOG ->
                Math.min(
                        numbers.capacity(),
                        entries.stream()
                                .filter(entry ->
                                        entry.certain && entry.from > at - Math.min(shortest, numbers.window()) + 2)
                                .mapToDouble(Entry::permits)
                                .sum());
            case CONCURRENCY -> heldAtLeast();
        };
    }

    void take(double permits, Numbers by, long passed) {
        know(by);
        least.replaceAll((rule, taken) -> {
            double left = Math.max(0, permits - rule.rate() * passed);
            // Charges by other rules count up to the capacity, and may have been made after this one.
            boolean isLast = !severalRules || passed == 0;
            if (rule.equals(by) && isLast) {
                return taken + left;
            }
            // One that is new adopts what another has counted.
            boolean counts = rule.equals(by) || knownSince.get(rule) <= at - passed;
            return counts ? Math.min(rule.capacity(), taken + left) : taken;
        });
    }

    void giveBack(double permits) {
        least.replaceAll((rule, taken) -> Math.max(0, taken - permits));
    }

    private double maybeRefunded() {
        return refunding
                + flying.stream()
                        .filter(Take::mayBeForgotten)
                        .mapToLong(take -> take.permits)
                        .sum();
    }

    /** A refund is under way of a charge from before a reset or a grant. Returns what has to run when it has been made. */
    Runnable refunding(double permits) {
        refunding += permits;
        return () -> {
            refunding -= permits;
            giveBack(permits);
        };
    }

    /** A call has cost so much beyond its estimate, which the store charges by then. By this rule, it may have a state then. */
    void cost(Take take, double permits, long due) {
        entries.add(new Entry(take, permits, false, take.sent, due));
        costs.add(new Cost(take.numbers, permits, due));
        costs.sort(Comparator.comparingLong(Cost::due));
        know(take.numbers, Long.MAX_VALUE);
    }

    private double charging() {
        return costs.stream().mapToDouble(Cost::permits).sum();
    }

    /** Everything is forgotten, except for what is under way. */
    void forget() {
        Set<Take> later = new HashSet<>(flying);
        later.addAll(unanswered);
        most = later.stream().mapToLong(take -> take.permits).sum();
        entries.removeIf(entry -> !later.contains(entry.take()) && entry.to() <= at);
        isDoubted = false;
        blocks.end();
    }

    double heldAtLeast() {
        return held.stream().mapToLong(take -> take.permits).sum();
    }

    double heldAtMost() {
        return heldAtLeast()
                + maybe.keySet().stream().mapToLong(take -> take.permits).sum()
                + flying.stream().mapToLong(take -> take.permits).sum();
    }
}
