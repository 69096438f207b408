package io.ratelimit.redis;

import io.ratelimit.RateLimitStoreException;
import io.ratelimit.RateLimitStoreException.Reason;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.springframework.beans.factory.DisposableBean;

/**
 * Redis, in time or not at all: no answer is waited for longer than the timeout, and a server that is known not to answer
 * is asked by background probes only. What goes wrong is always a {@link RateLimitStoreException}.
 */
public final class GuardedRedis implements DisposableBean {

    /** A key of several is on its way to another node of a cluster. Nothing was done, and it soon is there. */
    private static final String ON_THE_MOVE = "TRYAGAIN";

    private static final long MOVE_MILLIS = 5;

    private static final Duration WARM_UP = Duration.ofSeconds(2);

    private final RateLimitScriptExecutor executor;

    private final Servers servers;

    private final Duration timeout;

    private final Probe probe;

    private final Map<String, Node> nodes = new ConcurrentHashMap<>();

    private final Probes probes;

    /**
     * @param timeout the longest that a decision may take
     * @param keyPrefix what the names of the probes' buckets begin with
     */
    public GuardedRedis(RateLimitScriptExecutor executor, Duration timeout, String keyPrefix) {
        this.executor = executor;
        this.servers = executor instanceof Servers known ? known : Servers.ONE;
        this.timeout = timeout;
        this.probe = new Probe(keyPrefix, new ScriptLanguage());
        this.probes = new Probes(this::probe, node -> servers.renew(node.name()));
    }

    Deadline deadline() {
        return Deadline.in(timeout);
    }

    boolean isClustered() {
        return executor.isClustered();
    }

    CompletableFuture<List<Long>> execute(List<byte[]> keys, byte[][] arguments, Deadline deadline) {
        if (deadline.isOver()) {
            return CompletableFuture.failedFuture(
                    new RateLimitStoreException(Reason.TIMEOUT, "Not asked in time", null));
        }
        CompletableFuture<List<Long>> reply =
                nodeOf(keys.get(0)).ask(() -> executor.execute(keys, arguments), deadline);
        return keys.size() == 1
                ? reply
                : reply.exceptionallyCompose(thrown -> isOnTheMove(thrown, deadline)
                        ? soon(() -> execute(keys, arguments, deadline))
                        : CompletableFuture.failedFuture(thrown));
    }

    private static boolean isOnTheMove(Throwable thrown, Deadline deadline) {
        return String.valueOf(thrown.getMessage()).contains(ON_THE_MOVE) && !deadline.isOver();
    }

    private static <T> CompletableFuture<T> soon(Supplier<CompletableFuture<T>> work) {
        CompletableFuture<Void> later =
                new CompletableFuture<Void>().completeOnTimeout(null, MOVE_MILLIS, TimeUnit.MILLISECONDS);
        return later.thenCompose(over -> work.get());
    }

    CompletableFuture<?> delete(byte[] key, Deadline deadline) {
        return nodeOf(key).ask(() -> executor.delete(key), deadline);
    }

    /** Has every server decide something, so that it is ready to. Takes its time; failures show with the calls. */
    public void warmUp() {
        var unused = askAll(Deadline.in(WARM_UP)).exceptionally(thrown -> null).join();
    }

    /** Done when every server has decided something, or with what is wrong with one. */
    CompletableFuture<Void> check() {
        return askAll(deadline());
    }

    private CompletableFuture<Void> askAll(Deadline deadline) {
        return CompletableFuture.allOf(servers.tags().entrySet().stream()
                .map(server -> node(server.getKey()).ask(() -> probeOn(server.getValue()), deadline))
                .toArray(CompletableFuture[]::new));
    }

    private Node nodeOf(byte[] key) {
        return node(servers.of(key));
    }

    private Node node(String server) {
        Node known = nodes.get(server);
        return known != null ? known : nodes.computeIfAbsent(server, name -> new Node(name, timeout, probes::start));
    }

    private CompletableFuture<?> probe(Node node) {
        String tag = servers.tags().get(node.name());
        if (tag == null) {
            node.retire();
            nodes.remove(node.name());
            return CompletableFuture.completedFuture(null);
        }
        return node.isOpen() ? node.probe(() -> probeOn(tag), deadline()) : CompletableFuture.completedFuture(null);
    }

    private CompletionStage<List<Long>> probeOn(String tag) {
        return executor.execute(probe.names(tag), probe.arguments());
    }

    @Override
    public void destroy() {
        probes.stop();
    }
}
