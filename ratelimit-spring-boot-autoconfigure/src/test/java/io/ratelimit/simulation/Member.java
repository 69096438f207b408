package io.ratelimit.simulation;

import io.ratelimit.simulation.SimulatedCall.Part;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** One instance of the simulated application, with what the simulation knows of its network. */
final class Member {

    /** After a fault, an instance asks Redis again no later. */
    static final long RECOVERY = 3_000_000;

    /** What is sent at once has arrived by then, for certain. */
    static final long SOON = 10_000;

    /** Until then, what was sent over a slow network has arrived. */
    static final long LATE = 300_000;

    private final SimulatedInstance instance;

    private final SimulatedTime time;

    private final Model model;

    private boolean working = true;

    /** Since when the network works. */
    private long workingSince;

    private long faultySince;

    /** When each fault began. */
    private final List<Long> faults = new ArrayList<>();

    /** When replies were late last. */
    private long lateUntil = -2 * LATE;

    /** When a settlement has failed in the present fault; -1: none has. */
    private long settlementFailed = -1;

    private long lostBefore;

    /** What was certainly kept in the present fault, by bucket, with the time of the first. */
    private final Map<String, Kept> kept = new HashMap<>();

    /** What was kept of one bucket and rule. */
    private static final class Kept {

        private final Take first;

        private final long since;

        private final List<Long> charges = new ArrayList<>();

        Kept(Take first, long since) {
            this.first = first;
            this.since = since;
        }

        /** Returns what is charged at least, if so many of the charges are lost. */
        long permits(long lost) {
            return charges.stream()
                    .sorted(Comparator.reverseOrder())
                    .skip(lost)
                    .mapToLong(Long::longValue)
                    .sum();
        }
    }

    Member(SimulatedInstance instance, SimulatedTime time, Model model) {
        this.instance = instance;
        this.time = time;
        this.model = model;
        this.workingSince = time.micros() - 2 * RECOVERY;
    }

    SimulatedInstance instance() {
        return instance;
    }

    String name() {
        return instance.name();
    }

    boolean takeFailed() {
        return instance.takeFailed();
    }

    void networkChanges(SimulatedNetwork.State next) {
        SimulatedNetwork network = instance.network();
        boolean worked = network.isWorking();
        if (isLate()) {
            lateUntil = time.micros();
        }
        network.setState(next);
        if (worked && !network.isWorking()) {
            working = false;
            faultySince = time.micros();
            faults.add(faultySince);
            settlementFailed = -1;
            lostBefore = instance.lostSettlements();
            kept.clear();
            model.changes.releasesMayBeLost(name(), 2 * RECOVERY);
        } else if (!worked && network.isWorking()) {
            working = true;
            workingSince = time.micros();
        }
    }

    private boolean isLate() {
        return instance.network().state() == SimulatedNetwork.State.LATE;
    }

    /** Returns how long a release or a settlement may take. It may wait for one that was sent over a slow network. */
    private long delay() {
        return isLate() || time.micros() - lateUntil <= LATE ? LATE : SOON;
    }

    /** Returns whether the network has worked from a time on for so long: a fault meanwhile may have lost what was sent. */
    private boolean hasWorked(long since, long delay) {
        return faults.stream().noneMatch(fault -> fault >= since && fault <= since + delay);
    }

    boolean isWell() {
        return isConnectedFor(RECOVERY);
    }

    boolean isConnectedFor(long micros) {
        return working && time.micros() - workingSince > micros;
    }

    /** Returns since when Redis has got nothing, or -1. */
    long faultySince() {
        return working ? -1 : faultySince;
    }

    /** Settlements of a fault have been made some time after it, except those that are counted as lost. */
    void chargeKept() {
        if (!kept.isEmpty() && isConnectedFor(RECOVERY)) {
            long lost = instance.lostSettlements() - lostBefore;
            kept.values().forEach(of -> model.kept(shared(of.first), of.first, of.permits(lost), of.since));
            kept.clear();
        }
    }

    private boolean isInMemory(Part part) {
        return instance.network() == null
                || part.limit().has(Feature.INSTANCE_SCOPE)
                || part.take().isLocal();
    }

    /** Returns how long permits may be held after a call has ended. */
    long longestRelease(Part part) {
        if (isInMemory(part)) {
            return 0;
        }
        if (!isWell()) {
            return part.charge().limit().hold().toNanos() / 1_000 * 4 / 3 + 2 * RECOVERY + part.take().setBack;
        }
        return delay();
    }

    /** A call of this instance settles its actual cost. */
    void settles(Part part, long cost) {
        Take take = part.take();
        if (take.isLocal() && cost > take.permits()) {
            model.mayBeTaken(shared(take), take, cost - take.permits());
        }
        if (isInMemory(part) && !take.isLocal()) {
            model.settled(take, cost, 0, () -> true);
        } else if (isWell()) {
            long since = time.micros();
            long delay = delay();
            model.settled(take, cost, delay, () -> hasWorked(since, delay));
        } else {
            model.settled(take, cost, -1, () -> false);
            keep(take, cost);
        }
    }

    private void keep(Take take, long cost) {
        if (working) {
            return;
        }
        long now = time.micros();
        if (cost <= take.permits()) {
            return;
        }
        if (settlementFailed < 0) {
            settlementFailed = now;
        } else if (isNotSent(now)) {
            kept.computeIfAbsent(shared(take) + take.rule(), first -> new Kept(take, now))
                    .charges
                    .add(cost - take.permits());
        }
    }

    /** Returns whether a settlement waits for one that has no reply, or Redis is known to fail. */
    private boolean isNotSent(long now) {
        return now - settlementFailed > LATE || instance.network().state() == SimulatedNetwork.State.HANGS;
    }

    private static String shared(Take take) {
        return take.bucket().replaceFirst(" local .*", "");
    }

    /** Returns what this instance takes from its own bucket, because Redis has failed. */
    Part locally(Part part) {
        Take take = model.ask(
                part.take().bucket() + " local " + name(),
                SimulatedInstance.numbers(part.charge().limit()),
                part.charge().permits(),
                name());
        return new Part(part.limit(), part.charge(), take);
    }

    /** A call was refused, or has failed. */
    void refused(@Nullable Throwable thrown) {
        if (instance.network() == null || isWell()) {
            throw new AssertionError("a call fails although the store does not: " + thrown, thrown);
        }
    }
}
