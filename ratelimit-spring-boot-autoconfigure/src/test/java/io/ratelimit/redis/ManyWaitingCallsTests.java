package io.ratelimit.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.ratelimit.RateLimitInterruptedException;
import io.ratelimit.RateLimiter;
import io.ratelimit.RateLimiterRegistry;
import io.ratelimit.autoconfigure.RateLimitAutoConfiguration;
import io.ratelimit.reactor.RateLimiterOperator;
import io.ratelimit.testing.LongRunning;
import io.ratelimit.testing.TestRandom;
import io.ratelimit.testing.redis.SharedRedis;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.springframework.boot.test.util.TestPropertyValues;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;

/** Very many calls wait for the permits of one key: none is overtaken or forgotten, and one that leaves delays no other. */
@Timeout(300)
@LongRunning
class ManyWaitingCallsTests {

    private static final int CAPACITY = 5;

    /** As many as may wait, in the nightly build. */
    private static final int CROWD = TestRandom.cases(10_000);

    private static final int THREADS = TestRandom.cases(500);

    @Nested
    class InMemory extends Contract {

        InMemory() {
            super("ratelimit.store=in-memory");
        }
    }

    @Nested
    class InRedis extends Contract {

        InRedis() {
            super("ratelimit.redis.timeout=20s", "ratelimit.redis.key-prefix=" + RedisUnderTest.newPrefix());
        }
    }

    @TestInstance(TestInstance.Lifecycle.PER_CLASS)
    abstract static class Contract {

        private final AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext();

        private final String[] store;

        private RateLimiter limiter;

        Contract(String... store) {
            this.store = store;
        }

        @BeforeAll
        void start() {
            TestPropertyValues.of(store)
                    .and(
                            "ratelimit.on-store-failure=throw",
                            "ratelimit.limits.exports.algorithm=concurrency",
                            "ratelimit.limits.exports.capacity=" + CAPACITY,
                            "ratelimit.limits.exports.max-wait=1h")
                    .applyTo(context);
            context.registerBean(
                    LettuceConnectionFactory.class,
                    () -> new LettuceConnectionFactory(
                            SharedRedis.get().host(), SharedRedis.get().port()));
            context.register(RateLimitAutoConfiguration.class);
            context.refresh();
            limiter = context.getBean(RateLimiterRegistry.class).get("exports");
        }

        @AfterAll
        void stop() {
            context.close();
        }

        private List<RateLimiter.Entry> holdAll(String key) {
            return Stream.generate(() -> limiter.enter(key)).limit(CAPACITY).toList();
        }

        private void awaitAllFree(String key) {
            await().until(() -> limiter.peek(key).remaining() == CAPACITY);
        }

        private static List<Integer> stayers(int all) {
            return IntStream.range(0, all).filter(i -> i % 2 == 1).boxed().toList();
        }

        /** One permit goes from call to call, so their order shows. */
        @Test
        void asynchronousCallsTakeTheirTurnsAndHalfOfThemLeave() throws Exception {
            List<RateLimiter.Entry> held = holdAll("futures");
            List<Integer> order = new CopyOnWriteArrayList<>();
            List<CompletableFuture<RateLimiter.Entry>> calls = new ArrayList<>();
            List<CompletableFuture<Void>> ends = new ArrayList<>();
            for (int i = 0; i < CROWD; i++) {
                int number = i;
                CompletableFuture<RateLimiter.Entry> call =
                        limiter.enterAsync("futures").toCompletableFuture();
                calls.add(call);
                ends.add(call.thenAccept(entry -> {
                    order.add(number);
                    entry.close();
                }));
            }
            assertThat(calls).noneMatch(CompletableFuture::isDone);
            for (int i = 0; i < CROWD; i += 2) {
                calls.get(i).cancel(false);
            }
            held.get(0).close();
            for (int number : stayers(CROWD)) {
                ends.get(number).get(200, TimeUnit.SECONDS);
            }
            assertThat(order).isEqualTo(stayers(CROWD));
            held.forEach(RateLimiter.Entry::close);
            awaitAllFree("futures");
        }

        @Test
        void publishersTakeTheirTurnsAndHalfOfThemLeave() {
            List<RateLimiter.Entry> held = holdAll("publishers");
            List<Integer> order = new CopyOnWriteArrayList<>();
            List<Disposable> calls = new ArrayList<>();
            for (int i = 0; i < CROWD; i++) {
                int number = i;
                calls.add(Mono.fromSupplier(() -> order.add(number))
                        .transform(RateLimiterOperator.of(limiter, "publishers"))
                        .subscribe());
            }
            assertThat(order).isEmpty();
            for (int i = 0; i < CROWD; i += 2) {
                calls.get(i).dispose();
            }
            held.get(0).close();
            await().atMost(200, TimeUnit.SECONDS).until(() -> order.size() == CROWD / 2);
            assertThat(order).isEqualTo(stayers(CROWD));
            held.forEach(RateLimiter.Entry::close);
            awaitAllFree("publishers");
        }

        @Test
        void threadsTakeTheirTurnsAndHalfOfThemLeave() throws Exception {
            List<RateLimiter.Entry> held = holdAll("threads");
            List<Integer> order = new CopyOnWriteArrayList<>();
            AtomicInteger interrupted = new AtomicInteger();
            List<Thread> threads = new ArrayList<>();
            for (int i = 0; i < THREADS; i++) {
                int number = i;
                Thread thread = new Thread(() -> {
                    try (RateLimiter.Entry entry = limiter.enter("threads")) {
                        assertThat(entry).isNotNull();
                        order.add(number);
                    } catch (RateLimitInterruptedException ex) {
                        interrupted.incrementAndGet();
                    }
                });
                thread.start();
                threads.add(thread);
                while (thread.getState() != Thread.State.TIMED_WAITING) {
                    Thread.onSpinWait();
                }
            }
            for (int i = 0; i < THREADS; i += 2) {
                threads.get(i).interrupt();
            }
            for (int i = 0; i < THREADS; i += 2) {
                threads.get(i).join(60_000);
            }
            held.get(0).close();
            for (Thread thread : threads) {
                thread.join(100_000);
            }
            assertThat(interrupted).hasValue((THREADS + 1) / 2);
            assertThat(order).isEqualTo(stayers(THREADS));
            held.forEach(RateLimiter.Entry::close);
            awaitAllFree("threads");
        }

        /** All permits go round: no more are at work than may be, and all calls are served. */
        @Test
        void allOfTheCrowdAreServed() throws Exception {
            List<RateLimiter.Entry> held = holdAll("crowd");
            AtomicInteger atWork = new AtomicInteger();
            AtomicInteger most = new AtomicInteger();
            CompletableFuture<?>[] calls = IntStream.range(0, CROWD)
                    .mapToObj(i -> limiter.enterAsync("crowd")
                            .thenAccept(entry -> {
                                most.accumulateAndGet(atWork.incrementAndGet(), Math::max);
                                atWork.decrementAndGet();
                                entry.close();
                            })
                            .toCompletableFuture())
                    .toArray(CompletableFuture[]::new);
            held.forEach(RateLimiter.Entry::close);
            CompletableFuture.allOf(calls).get(200, TimeUnit.SECONDS);
            assertThat(most).hasValueBetween(1, CAPACITY);
            awaitAllFree("crowd");
        }
    }
}
