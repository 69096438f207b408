package io.ratelimit.outage;

import static org.awaitility.Awaitility.await;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.function.Predicate;
import java.util.function.ToLongFunction;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.awaitility.core.ConditionTimeoutException;

/** A fault that befalls Redis while an instance is called, from before it until limits are shared again. */
final class Outage implements AutoCloseable {

    /** Used up in Redis before the fault. */
    static final List<String> SPENT = keys("spent");

    /** Not used before the fault. */
    static final List<String> FRESH = keys("fresh");

    /** On every shard of a cluster, as the others are. */
    private static final List<String> PROBES = keys("probe");

    private static final List<String> ALL =
            Stream.concat(SPENT.stream(), FRESH.stream()).toList();

    private static final Duration PATIENCE = Duration.ofSeconds(60);

    private final String fault;

    private final Instance first;

    private final Instance second;

    private final Ledger ledger = new Ledger();

    private final Callers callers;

    private final List<String> missed = new ArrayList<>();

    private Optional<Duration> recovery = Optional.empty();

    private long notDecidedBefore;

    Outage(String fault, List<String> properties) {
        this.fault = fault;
        this.first = new Instance(properties);
        this.second = new Instance(properties);
        this.callers = new Callers(first, ledger);
    }

    private static List<String> keys(String name) {
        return IntStream.range(0, 6).mapToObj(i -> name + i).toList();
    }

    /** Begins to call, and returns when limits are shared and the keys that are to be spent are. */
    Outage begin() {
        expect("limits are shared at first", () -> isShared(key -> true));
        callers.start(SPENT);
        expect("the limit is reached", () -> ledger.leastRejected(Instance.SMALL, SPENT) > 0);
        notDecidedBefore = first.notDecided();
        ledger.forgetTimes();
        return this;
    }

    /** It begins, and so do calls with fresh keys. */
    Outage strike(Runnable event) {
        event.run();
        callers.use(FRESH);
        return this;
    }

    /** Until calls have gone by policy, and all that may be admitted has been. */
    Outage last() {
        expect("calls go by policy", () -> first.notDecided() > notDecidedBefore);
        awaitRejections();
        return this;
    }

    /** While it lasts, the limits of the keys that the fault does not concern are shared. */
    Outage others(Predicate<String> which) {
        expect("other limits are shared meanwhile", () -> isShared(which));
        return this;
    }

    /** Runs what ends it, and returns when limits are shared again. */
    Outage recover(Runnable end) {
        end.run();
        long start = System.nanoTime();
        if (expect("limits are shared again", () -> isShared(key -> true))) {
            recovery = Optional.of(Duration.ofNanos(System.nanoTime() - start));
        }
        return this;
    }

    /** Calls on, until an admission too much would have shown. */
    Outage awaitRejections() {
        long before = ledger.leastRejected(Instance.SMALL, ALL);
        expect("limits are held", () -> ledger.leastRejected(Instance.SMALL, ALL) > before + 2);
        return this;
    }

    long decisions() {
        return ledger.decisions();
    }

    /**
     * Ends the calls.
     *
     * @param admissible how often the capacity of a limit may have been used: in Redis, and in memory
     */
    Findings findings(int admissible) {
        awaitRejections();
        callers.close();
        return new Findings(
                fault,
                ledger.decisions(),
                first.notDecided() - notDecidedBefore,
                ledger.slowestMillis(),
                ledger.errors(),
                overAdmissions((long) admissible * Instance.SMALL_CAPACITY),
                missed.isEmpty() ? overCharges() : 0,
                recovery,
                List.copyOf(missed));
    }

    private static long excess(Collection<String> keys, ToLongFunction<String> ofKey) {
        return keys.stream().mapToLong(ofKey).filter(excess -> excess > 0).sum();
    }

    private long overAdmissions(long admissible) {
        return excess(ALL, key -> ledger.admitted(Instance.SMALL, key) - admissible);
    }

    private long overCharges() {
        return excess(ALL, key -> charged(key) - ledger.called(Instance.AMPLE, key));
    }

    /** What Redis says of a key that was called; another instance asks, which has not been. */
    private long charged(String key) {
        expect("what was charged is seen", () -> used(key) > 0);
        return used(key);
    }

    private long used(String key) {
        return Instance.AMPLE_CAPACITY
                - second.limiter(Instance.AMPLE).peek(key).remaining();
    }

    /** Whether a charge by one instance is seen by the other. */
    private boolean isShared(Predicate<String> which) {
        return PROBES.stream().filter(which).allMatch(this::isShared);
    }

    private boolean isShared(String key) {
        long before = second.taken(key);
        first.limiter(Instance.AMPLE).tryAcquire(key);
        return second.taken(key) == before + 1;
    }

    private boolean expect(String what, Callable<Boolean> condition) {
        try {
            await(what).atMost(PATIENCE).pollInterval(Duration.ofMillis(5)).until(condition);
            return true;
        } catch (ConditionTimeoutException ex) {
            missed.add(what);
            return false;
        }
    }

    @Override
    public void close() {
        callers.close();
        first.close();
        second.close();
    }
}
