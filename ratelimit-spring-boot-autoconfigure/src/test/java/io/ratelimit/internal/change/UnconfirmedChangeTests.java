package io.ratelimit.internal.change;

import static io.ratelimit.internal.change.OverriddenInstance.QUOTES;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.awaitility.Awaitility.await;

import io.ratelimit.RateLimitAdmin;
import io.ratelimit.RateLimitAdmin.BucketStatus;
import io.ratelimit.RateLimitOverride;
import io.ratelimit.RateLimitStatus;
import io.ratelimit.RateLimitStoreException;
import io.ratelimit.event.RateLimitChangedEvent;
import io.ratelimit.event.RateLimitChangedEvent.Kind;
import io.ratelimit.internal.concurrent.BoundedWait;
import io.ratelimit.testing.LogRecorder;
import io.ratelimit.testing.LongRunning;
import io.ratelimit.testing.redis.FaultyProxy;
import io.ratelimit.testing.redis.RedisServer;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Changes of a bucket whose answer is lost: Redis has made them, or makes them when it goes on. */
@Timeout(180)
@LongRunning
class UnconfirmedChangeTests {

    private static final String KEY = "secret-key";

    private static final String MAY_BE_MADE = "Redis may still make the change";

    private static final String NOTHING_CHANGED = "Nothing was changed.";

    private static final Duration SOON = Duration.ofSeconds(60);

    private static final RedisServer redis = RedisServer.loadingAtOnce();

    private final String prefix = "unconfirmed-" + System.nanoTime();

    @AfterAll
    static void stopRedis() {
        redis.close();
    }

    private OverriddenInstance start(int port) {
        return new OverriddenInstance(port, prefix, "ratelimit.redis.timeout=500ms");
    }

    private static RateLimitAdmin.Bucket bucket(OverriddenInstance instance) {
        return instance.admin().as("bob").bucket(QUOTES, KEY);
    }

    @ParameterizedTest
    @CsvSource({
        "grant, false", "grant, true",
        "block, false", "block, true",
        "unblock, false", "unblock, true",
        "reset, false", "reset, true"
    })
    void changeWithoutAnAnswerIsLoggedAndMadeWhenRedisGoesOn(String change, boolean async) {
        try (OverriddenInstance instance = start(redis.port());
                LogRecorder log = new LogRecorder("io.ratelimit")) {
            RateLimitAdmin.Bucket bucket = bucket(instance);
            awaitAnswer(() -> {
                instance.limiter().tryAcquire(KEY, 10);
                return change.equals("unblock") ? bucket.block(Duration.ofHours(1)) : bucket.unblock();
            });
            List<RateLimitChangedEvent> before = List.copyOf(instance.events());
            log.forget();
            redis.hang();
            try {
                assertThatExceptionOfType(RateLimitStoreException.class)
                        .isThrownBy(() -> make(bucket, change, async))
                        .withMessageContaining(MAY_BE_MADE)
                        .withMessageNotContaining(KEY);
                assertThatExceptionOfType(RateLimitStoreException.class)
                        .as("not sent")
                        .isThrownBy(() -> make(bucket, change, async))
                        .withMessageEndingWith(NOTHING_CHANGED);
            } finally {
                redis.goOn();
            }
            assertThat(warnings(log))
                    .singleElement()
                    .satisfies(line -> assertThat(line)
                            .startsWith(
                                    "Rate limit 'quotes': no answer to a change of a bucket by bob: " + attempt(change))
                            .contains("; Redis may still make it. When Redis answers, look at the key: GET "));
            assertThat(log.text()).doesNotContain(KEY);
            assertThat(instance.events()
                            .subList(before.size(), instance.events().size()))
                    .singleElement()
                    .satisfies(event -> {
                        assertThat(event.kind()).isEqualTo(Kind.UNCONFIRMED);
                        assertThat(event.change()).startsWith(attempt(change));
                        assertThat(event.principal()).isEqualTo("bob");
                    });
            await(change)
                    .atMost(SOON)
                    .ignoreExceptionsInstanceOf(RateLimitStoreException.class)
                    .until(() -> isMade(change, bucket.inspect()));
        }
    }

    @ParameterizedTest
    @CsvSource({"override, false", "override, true", "removal, false", "removal, true"})
    void changeOfALimitWithoutAnAnswerIsLoggedAndMadeWhenRedisGoesOn(String change, boolean async) {
        boolean removal = change.equals("removal");
        try (OverriddenInstance instance = start(redis.port());
                LogRecorder log = new LogRecorder("io.ratelimit")) {
            RateLimitAdmin admin = instance.admin().as("bob");
            RateLimitOverride twenty = RateLimitOverride.builder().capacity(20L).build();
            awaitAnswer(() -> admin.bucket(QUOTES, KEY).inspect());
            if (removal) {
                admin.override(QUOTES, twenty);
            }
            int before = instance.events().size();
            log.forget();
            try {
                assertThat(failureWhileRedisHangs(admin, () -> change(admin, removal ? null : twenty, async)))
                        .hasMessageContaining(MAY_BE_MADE);
                assertThat(warnings(log))
                        .singleElement()
                        .asString()
                        .startsWith("Rate limit 'quotes': no answer to a change by bob: "
                                + (removal ? "removal of the override (" : "override with capacity 20 ("));
                assertThat(instance.events().subList(before, instance.events().size()))
                        .singleElement()
                        .satisfies(event -> {
                            assertThat(event.kind()).isEqualTo(Kind.UNCONFIRMED);
                            assertThat(event.principal()).isEqualTo("bob");
                            assertThat(event.madeHere()).isTrue();
                        });
            } finally {
                redis.goOn();
            }
            await().atMost(SOON).until(() -> instance.limit().capacity() == (removal ? 10 : 20));
        }
    }

    private static void change(RateLimitAdmin admin, @Nullable RateLimitOverride next, boolean async) {
        CompletionStage<RateLimitStatus> change = null;
        if (async) {
            change = next == null
                    ? admin.removeOverrideAsync(QUOTES, RateLimitAdmin.ANY_VERSION)
                    : admin.overrideAsync(QUOTES, next, RateLimitAdmin.ANY_VERSION);
        } else if (next == null) {
            admin.removeOverride(QUOTES);
        } else {
            admin.override(QUOTES, next);
        }
        if (change != null) {
            BoundedWait.get(change, SOON);
        }
    }

    private static List<String> warnings(LogRecorder log) {
        return log.lines().stream()
                .filter(line -> line.contains("no answer to a change"))
                .toList();
    }

    private static void make(RateLimitAdmin.Bucket bucket, String change, boolean async) {
        Duration time = Duration.ofMinutes(10);
        switch (change) {
            case "grant" -> unused(async ? BoundedWait.get(bucket.grantAsync(4), SOON) : bucket.grant(4));
            case "block" -> unused(async ? BoundedWait.get(bucket.blockAsync(time), SOON) : bucket.block(time));
            case "unblock" -> unused(async ? BoundedWait.get(bucket.unblockAsync(), SOON) : bucket.unblock());
            default -> {
                if (async) {
                    BoundedWait.get(bucket.resetAsync(), SOON);
                } else {
                    bucket.reset();
                }
            }
        }
    }

    private static void unused(BucketStatus status) {
        assertThat(status).isNotNull();
    }

    private static String attempt(String change) {
        return switch (change) {
            case "grant" -> "grant of 4 permits";
            case "block" -> "block for 10m, until ";
            default -> change;
        };
    }

    private static boolean isMade(String change, BucketStatus status) {
        return switch (change) {
            case "grant" -> status.remaining() == 4;
            case "block" -> status.isBlocked();
            case "unblock" -> !status.isBlocked();
            default -> status.remaining() == 10;
        };
    }

    @Test
    void changeWhoseConnectionIsLostIsMadeAndLogged() {
        try (FaultyProxy wire = new FaultyProxy(redis.port());
                OverriddenInstance instance = start(wire.port());
                LogRecorder log = new LogRecorder("io.ratelimit")) {
            RateLimitAdmin.Bucket bucket = bucket(instance);
            awaitAnswer(bucket::inspect);
            AtomicInteger unconfirmed = new AtomicInteger();
            await("a change that was made")
                    .atMost(SOON)
                    .ignoreExceptionsInstanceOf(RateLimitStoreException.class)
                    .until(() -> {
                        unconfirmed.addAndGet(isLost(bucket, wire) ? 1 : 0);
                        return bucket.inspect().isBlocked();
                    });
            assertThat(warnings(log)).hasSize(unconfirmed.get()).isNotEmpty();
        }
    }

    /**
     * The reading of overrides may have lost the connection before, so that the change was not sent, or at the same time, so that it
     * did not arrive.
     */
    private static boolean isLost(RateLimitAdmin.Bucket bucket, FaultyProxy wire) {
        wire.loseReplies(Integer.MAX_VALUE);
        String message = failure(() -> bucket.block(Duration.ofMinutes(10))).getMessage();
        wire.loseReplies(0);
        awaitAnswer(bucket::inspect);
        return message.contains(MAY_BE_MADE);
    }

    @Test
    void changeWithoutAConnectionChangesNothing() {
        redis.kill();
        try (OverriddenInstance instance = start(redis.port());
                LogRecorder log = new LogRecorder("io.ratelimit")) {
            RateLimitAdmin.Bucket bucket = bucket(instance);
            for (boolean async : new boolean[] {false, true}) {
                assertThat(failure(() -> change(instance.admin(), null, async))).hasMessageEndingWith(NOTHING_CHANGED);
            }
            for (String change : List.of("block", "reset")) {
                assertThat(failure(() -> make(bucket, change, false))).hasMessageEndingWith(NOTHING_CHANGED);
                assertThat(failure(() -> make(bucket, change, true))).hasMessageEndingWith(NOTHING_CHANGED);
            }
            assertThat(warnings(log)).isEmpty();
            assertThat(instance.events()).isEmpty();
        } finally {
            redis.restart();
        }
    }

    /** As after a {@code kill -9}: once the connection is known to be lost, no change is sent. */
    @Test
    void changeAfterRedisWasKilledChangesNothing() {
        try (OverriddenInstance instance = start(redis.port());
                LogRecorder log = new LogRecorder("io.ratelimit")) {
            RateLimitAdmin.Bucket bucket = bucket(instance);
            awaitAnswer(bucket::inspect);
            redis.kill();
            await("the end of the connection")
                    .atMost(SOON)
                    .untilAsserted(() -> assertThat(failure(() -> change(instance.admin(), null, false)))
                            .hasMessageEndingWith(NOTHING_CHANGED));
            log.forget();
            for (boolean async : new boolean[] {false, true}) {
                assertThat(failure(() -> change(instance.admin(), null, async))).hasMessageEndingWith(NOTHING_CHANGED);
                assertThat(failure(() -> make(bucket, "block", async))).hasMessageEndingWith(NOTHING_CHANGED);
            }
            assertThat(warnings(log)).isEmpty();
        } finally {
            redis.restart();
        }
    }

    /** A reading of the overrides that is under way when Redis hangs keeps the change from being sent: then it tries again. */
    private static RateLimitStoreException failureWhileRedisHangs(RateLimitAdmin admin, Runnable change) {
        while (true) {
            redis.hang();
            RateLimitStoreException failure = failure(change);
            if (!failure.getMessage().endsWith(NOTHING_CHANGED)) {
                return failure;
            }
            redis.goOn();
            awaitAnswer(() -> admin.bucket(QUOTES, KEY).inspect());
        }
    }

    private static RateLimitStoreException failure(Runnable change) {
        return catchThrowableOfType(RateLimitStoreException.class, change::run);
    }

    private static void awaitAnswer(Callable<BucketStatus> first) {
        await().atMost(SOON)
                .ignoreExceptionsInstanceOf(RateLimitStoreException.class)
                .until(() -> first.call() != null);
    }
}
