package io.ratelimit.redis;

import io.ratelimit.TimeSource;
import io.ratelimit.concurrent.Futures;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Keeps settlements that a failing Redis has certainly not made, until it can make them. After a script without a reply, a probe
 * tells whether the server fails, so that only what was under way is lost. The probes do not count towards the circuit breaker.
 */
final class SettlementBacklog {

    private static final System.Logger logger = System.getLogger("io.ratelimit.redis");

    /** Between two probes of a server that fails. */
    static final Duration PAUSE = Duration.ofMillis(500);

    /** How many settlements are handed over at a time when the server is back. */
    static final int AT_A_TIME = 1_000;

    private static final Duration NEXT = Duration.ofMillis(50);

    /** The time after which a probe or a pause should have ended. */
    private static final Duration OVERDUE = Duration.ofSeconds(2);

    private static final long MINUTE = Duration.ofMinutes(1).toNanos();

    private final GuardedRedis redis;

    private final Scheduler timer;

    private final TimeSource calendar;

    private final Queued queued;

    private final int most;

    /** By the name of the server. Guarded by this. */
    private final Map<String, FailingServer> servers = new HashMap<>();

    /** How many are kept. Guarded by this. */
    private int size;

    /** How many were kept and sent again, since this was logged. Guarded by this. */
    private long made;

    /** How many had no reply, since this was logged. Guarded by this. */
    private long unknown;

    /** Guarded by this. */
    private long nextLog;

    /** Whether a minute has to pass before this is logged. Guarded by this. */
    private boolean reportPlanned;

    /** What waits for scripts. */
    interface Queued {

        /** Removes and returns what waits for a server. */
        List<QueuedSettlement> remove(String server);

        /** Sends these, and what waits. */
        void send(List<QueuedSettlement> settlements);

        /** Counts settlements that are too many to keep. */
        void refuse(int settlements);
    }

    private enum State {
        /** Nothing is sent until a probe has ended. */
        SUSPECTED,
        /** Nothing is sent, and everything is kept. */
        FAILS,
        /** Everything is sent, what was kept little by little. */
        ANSWERS
    }

    /**
     * @param calendar see {@link KeptSettlements}
     * @param most how many are kept
     */
    SettlementBacklog(GuardedRedis redis, Scheduler timer, TimeSource calendar, int most, Queued queued) {
        this.redis = redis;
        this.timer = timer;
        this.calendar = calendar;
        this.most = most;
        this.queued = queued;
        this.nextLog = redis.nanos();
    }

    /** Returns whether settlements of the slot wait for the end of a probe. */
    synchronized boolean isSuspected(int slot) {
        FailingServer server = servers.isEmpty() ? null : servers.get(redis.serverNameOf(slot));
        return server != null && server.state == State.SUSPECTED;
    }

    /** Keeps settlements if the server of the slot fails, and returns why; else {@code null}. */
    @Nullable
    Throwable failureOf(int slot, List<QueuedSettlement> settlements) {
        int refused;
        Throwable failure;
        synchronized (this) {
            FailingServer server = servers.isEmpty() ? null : servers.get(redis.serverNameOf(slot));
            if (server == null || server.state != State.FAILS) {
                return null;
            }
            failure = server.failure;
            refused = keep(server, settlements);
        }
        refuse(refused);
        return failure;
    }

    /** Takes the settlements of a script that has failed, and begins to probe the server if it may have failed, too. */
    void failed(int slot, List<QueuedSettlement> settlements, Throwable failure) {
        if (RedisFailureMapper.hasNotRun(failure)) {
            notRun(slot, settlements, failure);
        } else {
            boolean silence = RedisFailureMapper.isSilence(failure);
            synchronized (this) {
                unknown += settlements.size();
                if (!silence) {
                    report();
                }
            }
            if (silence) {
                notRun(slot, List.of(), failure);
            }
        }
    }

    /** Keeps settlements that Redis has not made, and begins to probe the server. */
    void notRun(int slot, List<QueuedSettlement> settlements, Throwable failure) {
        int refused;
        FailingServer server;
        boolean pending;
        synchronized (this) {
            server = servers.computeIfAbsent(redis.serverNameOf(slot), name -> new FailingServer(name, slot, failure));
            server.failure = failure;
            if (server.state == State.ANSWERS) {
                server.state = State.SUSPECTED;
            }
            refused = keep(server, settlements);
            pending = server.isPending();
            if (!pending) {
                server.expect(OVERDUE);
            }
        }
        refuse(refused);
        if (!pending) {
            probe(server);
        }
    }

    /** Returns how many were too many. */
    private int keep(FailingServer server, Collection<QueuedSettlement> settlements) {
        int refused = 0;
        for (QueuedSettlement settlement : settlements) {
            if (settlement.isKept()) {
                int before = server.kept.size();
                if (size < most || server.kept.joins(settlement)) {
                    server.kept.add(settlement, redis.nanos());
                } else {
                    refused++;
                }
                size += server.kept.size() - before;
            }
        }
        return refused;
    }

    private void refuse(int settlements) {
        if (settlements > 0) {
            queued.refuse(settlements);
        }
    }

    /** Logs what has become of settlements, at most once a minute. Called when a failure is over. */
    private void report() {
        if (reportPlanned || (unknown == 0 && made == 0)) {
            return;
        }
        long now = redis.nanos();
        if (now - nextLog < 0) {
            reportPlanned = schedule(this::reportLater, nextLog - now);
            return;
        }
        nextLog = now + MINUTE;
        logger.log(
                unknown > 0 ? Level.WARNING : Level.INFO,
                "Settlements of calls while Redis failed: " + made + " kept and sent again, " + unknown
                        + " without a reply, which Redis may have made or not; logged once a minute");
        made = 0;
        unknown = 0;
    }

    private synchronized void reportLater() {
        reportPlanned = false;
        report();
    }

    private void probe(FailingServer server) {
        if (redis.isClosed()) {
            // Nothing probes any more.
            failWaiting(server, server.failure);
            return;
        }
        synchronized (this) {
            server.expect(OVERDUE.plus(redis.timeout()));
        }
        var unused = Futures.start(() -> redis.probeInBackground(server.slot)).whenComplete((reply, thrown) -> {
            if (thrown == null) {
                answers(server);
            } else {
                fails(server, Futures.unwrap(thrown));
            }
        });
    }

    /** What was kept is not sent at once, because it may be that which fails. */
    private void answers(FailingServer server) {
        List<QueuedSettlement> next = List.of();
        Duration pause;
        boolean over;
        synchronized (this) {
            pause = server.state == State.SUSPECTED ? PAUSE : NEXT;
            if (server.state != State.SUSPECTED) {
                int before = server.kept.size();
                next = server.kept.remove(AT_A_TIME, redis.nanos());
                size -= before - server.kept.size();
                made += next.size();
            }
            server.state = State.ANSWERS;
            over = server.kept.size() == 0;
            if (over) {
                servers.remove(server.name, server);
                report();
            }
        }
        queued.send(next);
        if (!over) {
            probeLater(server, pause);
        }
    }

    private void fails(FailingServer server, Throwable failure) {
        failWaiting(server, failure);
        probeLater(server, PAUSE);
    }

    private void failWaiting(FailingServer server, Throwable failure) {
        synchronized (this) {
            server.state = State.FAILS;
            server.failure = failure;
        }
        List<QueuedSettlement> waiting = queued.remove(server.name);
        int refused;
        synchronized (this) {
            refused = keep(server, waiting);
        }
        refuse(refused);
        waiting.forEach(settlement -> settlement.done().completeExceptionally(failure));
    }

    private void probeLater(FailingServer server, Duration pause) {
        synchronized (this) {
            server.expect(OVERDUE.plus(pause));
        }
        // Without a thread, the watchdog probes it.
        var unused = schedule(() -> probe(server), pause.toNanos());
    }

    /** Returns whether a thread is available for the task. */
    private boolean schedule(Runnable task, long nanos) {
        try {
            var unused = timer.schedule(task, nanos);
            return true;
        } catch (Throwable ex) {
            logger.log(Level.DEBUG, "No thread is available to go on with settlements; trying again later", ex);
            return false;
        }
    }

    /** Probes servers whose last probe has no end. Returns a sentence for the log if there were any. */
    @Nullable
    String resume() {
        List<FailingServer> overdue = new ArrayList<>();
        synchronized (this) {
            for (FailingServer server : servers.values()) {
                if (!server.isPending()) {
                    overdue.add(server);
                }
            }
        }
        if (overdue.isEmpty() || redis.isClosed()) {
            return null;
        }
        overdue.forEach(this::probe);
        return "Settlements of calls were stuck and have been resumed";
    }

    /** Returns whether something is kept for a server that answers, and is sent soon. */
    synchronized boolean isSending() {
        return servers.values().stream().anyMatch(server -> server.state != State.FAILS && server.kept.size() > 0);
    }

    /** Returns how many buckets and refunds are kept. */
    synchronized int size() {
        return size;
    }

    /** A server that has failed. What it has is guarded by the backlog. */
    private final class FailingServer {

        private final String name;

        /** Of one of its buckets. */
        private final int slot;

        private final KeptSettlements kept = new KeptSettlements(calendar);

        private State state = State.SUSPECTED;

        private Throwable failure;

        /** When the probe or the pause should have ended. */
        private long end;

        private boolean pending;

        FailingServer(String name, int slot, Throwable failure) {
            this.name = name;
            this.slot = slot;
            this.failure = failure;
        }

        void expect(Duration longest) {
            pending = true;
            end = redis.nanos() + longest.toNanos();
        }

        /** Returns whether a probe is under way or will be. */
        boolean isPending() {
            return pending && redis.nanos() - end < 0;
        }
    }
}
