package io.ratelimit.outage;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.ratelimit.RateLimiter;
import io.ratelimit.RateLimiterRegistry;
import io.ratelimit.RateLimiterRegistry.JointDecision;
import io.ratelimit.RateLimiterRegistry.PermitRequest;
import io.ratelimit.testing.LongRunning;
import io.ratelimit.testing.redis.RedisProcess;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A server that owns all slots of a cluster and takes scripts for one of them only, used as one that stands alone. */
@Timeout(300)
@LongRunning
class ClusterAsStandaloneTests {

    private static final int THREADS = 16;

    private static final int CALLS = 500;

    private final RedisProcess server = RedisProcess.node();

    private final Instance instance;

    ClusterAsStandaloneTests() {
        server.send("CLUSTER", "ADDSLOTSRANGE", 0, 16_383);
        await().until(() -> ((String) server.send("CLUSTER", "INFO")).contains("cluster_state:ok"));
        instance = new Instance(List.of(
                "spring.data.redis.host=" + RedisProcess.HOST,
                "spring.data.redis.port=" + server.port(),
                "ratelimit.redis.timeout=10s"));
    }

    @AfterEach
    void close() {
        instance.close();
        server.close();
    }

    @Test
    void callsOfDifferentKeysAreAllDecided() throws InterruptedException {
        RateLimiter limiter = instance.limiter(Instance.SMALL);
        List<Thread> callers = IntStream.range(0, THREADS)
                .mapToObj(caller -> new Thread(
                        () -> IntStream.range(0, CALLS).forEach(i -> limiter.tryAcquire("key" + caller + "-" + i))))
                .toList();
        callers.forEach(Thread::start);
        for (Thread caller : callers) {
            caller.join();
        }
        assertThat(server.errors("CROSSSLOT")).isPositive();
        assertThat(instance.notDecided()).isZero();
        assertThat(instance.decided()).isGreaterThanOrEqualTo(THREADS * CALLS);
    }

    @Test
    void limitsOfDifferentKeysOnOneCallAreDecided() {
        for (int call = 1; call <= Instance.SMALL_CAPACITY + 1; call++) {
            JointDecision decision = instance.bean(RateLimiterRegistry.class)
                    .tryAcquireAll(List.of(
                            new PermitRequest(Instance.SMALL, "alice", 1),
                            new PermitRequest(Instance.AMPLE, "bob", 1)));
            assertThat(decision.allowed()).isEqualTo(call <= Instance.SMALL_CAPACITY);
        }
        assertThat(server.errors("CROSSSLOT")).isBetween(1L, 2L);
        assertThat(instance.notDecided()).isZero();
        assertThat(instance.taken("bob")).isEqualTo(Instance.SMALL_CAPACITY);
    }
}
