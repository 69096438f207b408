package io.ratelimit.redis;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;

/** Servers that answer what the test has them answer. A bucket is on the server whose name is the hash tag of its key. */
public final class ScriptedServers implements RateLimitScriptExecutor, RedisTopology {

    private static final String PROBE = ":%probe";

    private final Map<String, String> tags = new TreeMap<>();

    private final Map<String, Supplier<CompletableFuture<List<Long>>>> answers = new HashMap<>();

    private final List<String> calls = new ArrayList<>();

    private final List<String> probes = new ArrayList<>();

    private final List<String> renewed = new ArrayList<>();

    private final List<String> disconnected = new ArrayList<>();

    private boolean unknown;

    private Runnable whileReconnecting = () -> {};

    public ScriptedServers(String... names) {
        for (String name : names) {
            tags.put(name, name);
            answer(name, () -> CompletableFuture.completedFuture(List.of()));
        }
    }

    public void answer(String server, Supplier<CompletableFuture<List<Long>>> answer) {
        answers.put(server, answer);
    }

    /** It says nothing, and no call waits any longer. */
    public void silence(String server) {
        fail(server, new TimeoutException());
    }

    public void fail(String server, Exception failure) {
        answer(server, () -> CompletableFuture.failedFuture(failure));
    }

    public void heal(String server) {
        answer(server, () -> CompletableFuture.completedFuture(List.of()));
    }

    /** It is no longer one of them. */
    public void remove(String server) {
        tags.remove(server);
    }

    /** What happens before a driver returns from making another connection. */
    public void whileReconnecting(Runnable task) {
        whileReconnecting = task;
    }

    /** As with a driver that was closed, or has lost sight of its cluster. */
    public void forgetTopology() {
        unknown = true;
    }

    public void knowTopology() {
        unknown = false;
    }

    /** Which servers were asked, but for probes. */
    public List<String> calls() {
        return calls;
    }

    public List<String> probes() {
        return probes;
    }

    public List<String> renewed() {
        return renewed;
    }

    public List<String> disconnected() {
        return disconnected;
    }

    public static List<byte[]> keys(String... keys) {
        return List.of(keys).stream()
                .map(key -> key.getBytes(StandardCharsets.US_ASCII))
                .toList();
    }

    @Override
    public CompletionStage<List<Long>> execute(List<byte[]> keys, byte[][] arguments) {
        String key = new String(keys.get(0), StandardCharsets.US_ASCII);
        String server = serverOf(ClusterSlot.of(keys.get(0)));
        (key.endsWith(PROBE) ? probes : calls).add(server);
        return answers.get(server).get();
    }

    @Override
    public RedisTopology topology() {
        return this;
    }

    @Override
    public boolean isClustered() {
        return true;
    }

    @Override
    public String serverOf(int slot) {
        return answers.keySet().stream()
                .filter(name -> ClusterSlot.of(name.getBytes(StandardCharsets.US_ASCII)) == slot)
                .findFirst()
                .orElseThrow();
    }

    @Override
    public Map<String, String> hashTags() {
        if (unknown) {
            throw new IllegalStateException("Cannot determine the servers of the cluster");
        }
        return tags;
    }

    @Override
    public void reconnect(String server) {
        renewed.add(server);
        whileReconnecting.run();
    }

    @Override
    public void disconnect(String server) {
        disconnected.add(server);
    }
}
