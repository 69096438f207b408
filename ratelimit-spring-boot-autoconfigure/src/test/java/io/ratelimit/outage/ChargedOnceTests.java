package io.ratelimit.outage;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.ratelimit.RateLimitDecision;
import io.ratelimit.RateLimiter;
import io.ratelimit.testing.LongRunning;
import io.ratelimit.testing.redis.FaultyProxy;
import io.ratelimit.testing.redis.RedisServer;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A call that Redis did not answer may have been charged, but once: it is neither kept nor sent again. */
@Timeout(180)
@LongRunning
class ChargedOnceTests {

    private static final int CALLS = 300;

    private final RedisServer server = new RedisServer();

    private final FaultyProxy wire = new FaultyProxy(server.port());

    private final Instance instance = new Instance(RedisServer.propertiesVia(wire.port()), LettuceQueues.class);

    /** Asks Redis of what the other did, by a way of its own. */
    private final Instance witness =
            new Instance(Stream.concat(server.properties().stream(), Stream.of("ratelimit.redis.timeout=10s"))
                    .toList());

    private final RateLimiter limiter = instance.limiter(Instance.AMPLE);

    private int probes;

    @AfterEach
    void close() {
        instance.close();
        witness.close();
        wire.close();
        server.close();
    }

    @Test
    void callsUnderAHang() {
        awaitDecision();
        server.hang();
        callsGoByPolicy();
        server.goOn();
        assertChargedOnce();
    }

    @Test
    void callsIntoABlackHole() {
        awaitDecision();
        wire.swallow();
        callsGoByPolicy();
        wire.pass();
        assertChargedOnce();
    }

    @Test
    void callsWhoseRepliesAreLost() {
        for (int round = 0; round < 10; round++) {
            awaitDecision();
            wire.loseReplies(1);
            List<String> keys = keys("lost" + round + "-", 10).toList();
            List<CompletableFuture<RateLimitDecision>> calls =
                    keys.stream().map(this::callAsync).toList();
            assertAdmitted(calls);
            assertThat(wire.repliesToLose()).isZero();
            awaitDecision();
            assertThat(keys).allSatisfy(key -> assertThat(witness.taken(key)).isLessThanOrEqualTo(1));
            assertThat(keys.stream().mapToLong(witness::taken).sum()).isPositive();
        }
    }

    /** So many that they would be noticed if they waited somewhere. */
    private void callsGoByPolicy() {
        long before = instance.sentInVain();
        CompletableFuture<RateLimitDecision> first =
                keys().limit(1).map(this::callAsync).toList().get(0);
        await("a call under way")
                .pollInterval(Duration.ofMillis(1))
                .until(() -> queues().length() > 0 || first.isDone());
        List<CompletableFuture<RateLimitDecision>> calls =
                keys().limit(CALLS - 10).skip(1).map(this::callAsync).toList();
        assertAdmitted(List.of(first));
        assertThat(keys().skip(CALLS - 10).map(limiter::tryAcquire)).allMatch(RateLimitDecision::allowed);
        assertThat(calls)
                .allSatisfy(call -> assertThat(call)
                        .succeedsWithin(Duration.ofSeconds(60))
                        .satisfies(decision -> assertThat(decision.allowed()).isTrue()));
        assertThat(instance.sentInVain()).isGreaterThan(before);
    }

    private static void assertAdmitted(List<CompletableFuture<RateLimitDecision>> calls) {
        assertThat(calls)
                .allSatisfy(call -> assertThat(call)
                        .succeedsWithin(Duration.ofSeconds(60))
                        .satisfies(decision -> assertThat(decision.allowed()).isTrue()));
    }

    private void assertChargedOnce() {
        awaitDecision();
        await("empty queues").atMost(Duration.ofSeconds(60)).until(() -> queues().length() == 0);
        assertThat(keys()).allSatisfy(key -> assertThat(witness.taken(key)).isLessThanOrEqualTo(1));
        assertThat(keys().mapToLong(witness::taken).sum()).isLessThanOrEqualTo(instance.sentInVain());
    }

    private LettuceQueues queues() {
        return instance.bean(LettuceQueues.class);
    }

    private static Stream<String> keys() {
        return keys("key", CALLS);
    }

    private static Stream<String> keys(String name, int number) {
        return IntStream.range(0, number).mapToObj(i -> name + i);
    }

    private CompletableFuture<RateLimitDecision> callAsync(String key) {
        return limiter.tryAcquireAsync(key, 1).toCompletableFuture();
    }

    /** Until Redis has decided both a call that blocks and one that does not. */
    private void awaitDecision() {
        await("a decision of Redis").atMost(Duration.ofSeconds(60)).until(() -> {
            String key = "probe" + probes++;
            limiter.tryAcquire(key);
            callAsync(key).join();
            return witness.taken(key) == 2;
        });
    }
}
