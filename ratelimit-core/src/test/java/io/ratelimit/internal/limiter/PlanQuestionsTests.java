package io.ratelimit.internal.limiter;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.ratelimit.RateLimitPlan;
import io.ratelimit.spi.RateLimitPlanResolver;
import io.ratelimit.testing.BothTiers;
import io.ratelimit.testing.TestRandom;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Very many keys at once, on the threads of the starter, whose plans a bean finds slowly or not at all. */
@BothTiers
@Timeout(180)
class PlanQuestionsTests {

    private static final int KEYS = TestRandom.cases(5_000_000);

    private static final RateLimitPlan PRO = RateLimitPlan.named("pro");

    private final CountDownLatch held = new CountDownLatch(1);

    private final AtomicInteger asked = new AtomicInteger();

    private final Set<Thread> threads = ConcurrentHashMap.newKeySet();

    private final PlanCache cache =
            new PlanCacheManager(Duration.ofMinutes(1), Duration.ofMillis(1)).of("quotes", "plans", () -> resolver());

    private RateLimitPlanResolver resolver() {
        return (limit, key) -> {
            asked.incrementAndGet();
            threads.add(Thread.currentThread());
            try {
                held.await();
            } catch (InterruptedException ex) {
                throw new IllegalStateException(ex);
            }
            return PRO;
        };
    }

    @AfterEach
    void release() {
        held.countDown();
    }

    @Test
    void beanThatHangsOccupiesAFewThreadsAndHoldsUpTheFirstCallsAlone() {
        int waits = 0;
        for (int key = 0; key < KEYS; key++) {
            CompletableFuture<?> wait = cache.await("key" + key);
            if (wait != null) {
                waits++;
                PlanCache.block(wait);
            }
            assertThat(cache.find("key" + key)).isNull();
        }
        assertThat(waits).isLessThan(100);
        assertThat(threads).hasSizeLessThanOrEqualTo(16);
        assertThat(asked).hasValueLessThanOrEqualTo(16);
        held.countDown();
        // What was waiting for a thread is answered; the others are asked for again when they call next.
        await().atMost(Duration.ofSeconds(60)).until(() -> PRO.equals(cache.find("key0")));
        await().atMost(Duration.ofSeconds(60)).until(() -> PRO.equals(cache.find("key" + (KEYS - 1))));
        assertThat(threads).hasSizeLessThanOrEqualTo(16);
    }
}
