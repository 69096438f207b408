package io.ratelimit.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.ratelimit.RateLimitAdmin;
import io.ratelimit.RateLimitOverride;
import io.ratelimit.RateLimiter;
import io.ratelimit.RateLimiterRegistry;
import io.ratelimit.autoconfigure.RateLimitAutoConfiguration;
import io.ratelimit.spi.Waiter;
import io.ratelimit.testing.LogRecorder;
import io.ratelimit.testing.LongRunning;
import io.ratelimit.testing.TestRandom;
import io.ratelimit.testing.redis.RedisServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.test.util.TestPropertyValues;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;

/** A call waits in one instance for permits that another one releases: told of them, or by polling. */
@Timeout(300)
@LongRunning
class ReleasesElsewhereTests {

    private static final int CROWD = TestRandom.cases(5_000);

    private static final Duration POLL = Duration.ofSeconds(1);

    private static final Pattern ADDRESS = Pattern.compile("127\\.0\\.0\\.1:(\\d+)");

    private static final RedisServer redis = RedisServer.loadingAtOnce();

    private final String prefix = "ratelimit:" + System.nanoTime();

    private final List<AnnotationConfigApplicationContext> instances = new ArrayList<>();

    @AfterEach
    void stop() {
        instances.forEach(AnnotationConfigApplicationContext::close);
    }

    @AfterAll
    static void stopRedis() {
        redis.close();
    }

    /** Never polls. */
    private static final class NotifiedWaiter implements Waiter {

        @Override
        public void await(Duration delay) throws InterruptedException {
            Waiter.parking().await(delay);
        }

        @Override
        public CompletionStage<Void> awaitAsync(Duration delay) {
            return delay.equals(POLL)
                    ? new CompletableFuture<>()
                    : Waiter.parking().awaitAsync(delay);
        }
    }

    private AnnotationConfigApplicationContext start(Waiter waiter, String... properties) {
        AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext();
        TestPropertyValues.of(
                        "ratelimit.redis.host=127.0.0.1",
                        "ratelimit.redis.port=" + redis.port(),
                        "ratelimit.redis.key-prefix=" + prefix,
                        "ratelimit.redis.timeout=5s",
                        "ratelimit.limits.exports.algorithm=concurrency",
                        "ratelimit.limits.exports.max-wait=60s",
                        "ratelimit.limits.exports.capacity=2")
                .and(properties)
                .applyTo(context);
        context.registerBean(Waiter.class, () -> waiter);
        context.register(RateLimitAutoConfiguration.class);
        context.refresh();
        instances.add(context);
        return context;
    }

    private static RateLimiter limiter(AnnotationConfigApplicationContext instance) {
        return instance.getBean(RateLimiterRegistry.class).get("exports");
    }

    private void awaitSubscribers(int number) {
        await().atMost(Duration.ofSeconds(60)).until(() -> subscribers() == number);
    }

    private long subscribers() {
        List<?> reply = (List<?>) redis.send("PUBSUB", "NUMSUB", prefix + ":%changes");
        return (Long) reply.get(1);
    }

    private static CompletableFuture<RateLimiter.Entry> waiting(RateLimiter limiter, String key) {
        CompletableFuture<RateLimiter.Entry> call = limiter.enterAsync(key, 2).toCompletableFuture();
        assertThat(call).isNotDone();
        return call;
    }

    /** What a release has to find. */
    private void awaitMark(String key) {
        await().until(() -> (Long) redis.send("HEXISTS", prefix + ":{" + key + "}:exports%held", "?") == 1);
    }

    private static void assertEnters(CompletableFuture<RateLimiter.Entry> call) throws Exception {
        call.get(45, TimeUnit.SECONDS).close();
    }

    private void assertWoken(RateLimiter one, RateLimiter other, String key) throws Exception {
        RateLimiter.Entry entry = one.enter(key, 2);
        CompletableFuture<RateLimiter.Entry> call = waiting(other, key);
        awaitMark(key);
        entry.close();
        assertEnters(call);
    }

    @Test
    void releaseWakesTheCallOfAnotherInstance() throws Exception {
        RateLimiter one = limiter(start(new NotifiedWaiter()));
        RateLimiter other = limiter(start(new NotifiedWaiter()));
        awaitSubscribers(2);
        for (int i = 0; i < 20; i++) {
            assertWoken(one, other, "alice");
            assertWoken(other, one, "bob");
        }
    }

    @Test
    void resetAndLargerCapacityWakeTheCallsOfAllInstances() throws Exception {
        AnnotationConfigApplicationContext one = start(new NotifiedWaiter());
        RateLimiter other = limiter(start(new NotifiedWaiter()));
        awaitSubscribers(2);
        RateLimiter.Entry entry = limiter(one).enter("alice", 2);
        CompletableFuture<RateLimiter.Entry> reset = waiting(other, "alice");
        awaitMark("alice");
        one.getBean(RateLimitAdmin.class).bucket("exports", "alice").reset();
        assertEnters(reset);
        entry.close();
        RateLimiter.Entry next = limiter(one).enter("bob", 2);
        CompletableFuture<RateLimiter.Entry> larger = waiting(other, "bob");
        awaitMark("bob");
        one.getBean(RateLimitAdmin.class)
                .override("exports", RateLimitOverride.builder().capacity(4).build());
        assertEnters(larger);
        next.close();
    }

    @Test
    void subscriptionThatWasKilledIsMadeAgain() throws Exception {
        RateLimiter one = limiter(start(new NotifiedWaiter()));
        RateLimiter other = limiter(start(new NotifiedWaiter()));
        awaitSubscribers(2);
        redis.send("CLIENT", "KILL", "TYPE", "pubsub");
        awaitSubscribers(2);
        assertWoken(one, other, "alice");
        assertWoken(other, one, "alice");
    }

    /** Without one of these permissions there are no messages: calls poll, and one line of the log names what to grant. */
    @ParameterizedTest
    @ValueSource(strings = {"+subscribe", "+publish", "&ratelimit:*"})
    void withoutAPermissionCallsPoll(String permission) throws Exception {
        List<String> granted = Stream.of(
                        DocumentedAcl.rules(),
                        DocumentedAcl.functionRules(),
                        List.of("+exists", "+hget", "+hset", "+hdel", "+hmget", "+hgetall"),
                        List.of("resetchannels", "&ratelimit:*", "+publish", "+subscribe", "+unsubscribe"))
                .flatMap(List::stream)
                .filter(rule -> !rule.equals(permission))
                .toList();
        DocumentedAcl.setUser(redis.connections(), granted);
        String[] user = {
            "ratelimit.redis.username=" + DocumentedAcl.USER,
            "ratelimit.redis.password=" + DocumentedAcl.PASSWORD,
            "ratelimit.on-store-failure=throw"
        };
        try (LogRecorder log = new LogRecorder("io.ratelimit")) {
            AnnotationConfigApplicationContext one = start(Waiter.parking(), user);
            RateLimiter other = limiter(start(Waiter.parking(), user));
            assertWoken(limiter(one), other, "alice");
            String grant = "A user needs &" + prefix + ":%changes +publish +subscribe +unsubscribe";
            await().untilAsserted(() -> assertThat(log.text()).contains(grant));
            // An instance logs it once, however often it tries.
            one.stop();
            one.start();
            assertWoken(other, limiter(one), "alice");
            assertThat(log.text().lines().filter(line -> line.startsWith("WARNING") && !isOfAnotherServer(line)))
                    .hasSizeBetween(1, 2)
                    .allMatch(line -> line.endsWith(grant));
        }
    }

    /** What other tests have started may still log of servers that are gone. */
    private static boolean isOfAnotherServer(String line) {
        Matcher server = ADDRESS.matcher(line);
        return server.find() && Integer.parseInt(server.group(1)) != redis.port();
    }

    @ParameterizedTest
    @ValueSource(strings = {"local", "throw"})
    void crowdOutlivesARestartOfRedis(String policy) throws Exception {
        RateLimiter limiter = limiter(start(Waiter.parking(), "ratelimit.on-store-failure=" + policy));
        RateLimiter.Entry entry = limiter.enter("alice", 2);
        AtomicInteger admitted = new AtomicInteger();
        List<CompletableFuture<Void>> calls = Stream.generate(
                        () -> limiter.enterAsync("alice").toCompletableFuture().thenAccept(entered -> {
                            admitted.incrementAndGet();
                            entered.close();
                        }))
                .limit(CROWD)
                .toList();
        redis.kill();
        redis.restart();
        entry.close();
        CompletableFuture<?> all = CompletableFuture.allOf(calls.toArray(CompletableFuture[]::new));
        // Long before the end of their time.
        await().atMost(Duration.ofSeconds(45)).until(all::isDone);
        // With throw, those that were decided while Redis was away have failed.
        if (policy.equals("local")) {
            assertThat(admitted).hasValue(CROWD);
        }
        await().atMost(Duration.ofSeconds(60))
                .ignoreExceptions()
                .until(() -> limiter.peek("alice").remaining() == 2);
    }
}
