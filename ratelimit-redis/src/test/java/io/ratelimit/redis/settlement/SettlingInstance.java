package io.ratelimit.redis.settlement;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.ratelimit.redis.HandTurnedThread;
import io.ratelimit.redis.RateLimitScriptExecutor;
import io.ratelimit.redis.RedisTopology;
import io.ratelimit.redis.door.GuardedRedis;
import io.ratelimit.redis.script.Receipt;
import io.ratelimit.redis.script.ScriptCodec;
import io.ratelimit.spi.Charge;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** An instance that settles calls, whose scripts get to the test, and whose time is what the test lets pass. */
final class SettlingInstance implements RateLimitScriptExecutor, AutoCloseable {

    static final Duration TIMEOUT = Duration.ofMinutes(1);

    final HandTurnedThread thread = new HandTurnedThread();

    final GuardedRedis redis = new GuardedRedis(this, TIMEOUT, "test", true, thread, thread::nanos);

    final SettlementQueue queue;

    /** Whether Redis is a cluster. */
    boolean clustered;

    private final Consumer<SettlementScript> network;

    /** A script without a reply. */
    record SettlementScript(List<byte[]> keys, List<byte[]> arguments, CompletableFuture<List<Long>> reply) {

        List<String> amounts() {
            return IntStream.range(0, keys.size())
                    .mapToObj(i -> new String(arguments.get(2 * i + 2), UTF_8))
                    .toList();
        }

        String firstKey() {
            return new String(keys.get(0), UTF_8);
        }
    }

    /** @param network gets each script, and throws what the driver does */
    SettlingInstance(Consumer<SettlementScript> network, int mostWaiting) {
        this.network = network;
        this.queue = new SettlementQueue(
                redis,
                new ScriptCodec(),
                (task, delay) -> thread.schedule(task, delay, TimeUnit.NANOSECONDS),
                mostWaiting);
    }

    CompletableFuture<Void> charge(Charge charge) {
        return queue.charge(charge, name(charge));
    }

    CompletableFuture<Void> refund(List<Long> permits, Charge... charges) {
        return queue.refund(
                List.of(charges),
                permits,
                Stream.of(charges).map(SettlingInstance::name).toList(),
                Collections.nCopies(charges.length, new Receipt(10, 1, 0, 1)));
    }

    private static byte[] name(Charge charge) {
        return String.valueOf(charge.key()).getBytes(UTF_8);
    }

    @Override
    public CompletionStage<List<Long>> execute(List<byte[]> keys, byte[][] arguments) {
        SettlementScript next = new SettlementScript(keys, List.of(arguments), new CompletableFuture<>());
        if (next.firstKey().contains("probe")) {
            return CompletableFuture.completedFuture(List.of(1L, 1L, 0L, 0L));
        }
        network.accept(next);
        return next.reply;
    }

    @Override
    public RedisTopology topology() {
        return new RedisTopology() {
            @Override
            public boolean isClustered() {
                return clustered;
            }

            @Override
            public String serverOf(int slot) {
                return REDIS;
            }

            @Override
            public Map<String, String> hashTags() {
                return Map.of(REDIS, "%probe");
            }
        };
    }

    @Override
    public void close() {
        redis.destroy();
    }
}
