package io.ratelimit.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitDecision;
import io.ratelimit.redis.connection.RedisConnector;
import io.ratelimit.redis.store.TestStores;
import io.ratelimit.spi.BucketChange;
import io.ratelimit.spi.Charge;
import io.ratelimit.spi.RateLimitStore;
import io.ratelimit.spi.StoreOutcome;
import io.ratelimit.spi.StoreRequest;
import io.ratelimit.testing.LimitKind;
import io.ratelimit.testing.TestLimits;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/** Does whatever can be done in Redis, with the connections of a user. */
final class EverythingInRedis {

    private final RateLimitStore store;

    private EverythingInRedis(RateLimitStore store) {
        this.store = store;
    }

    /** @param admin of the same server, where scripts can be forgotten */
    static void doneBy(LettuceConnectionFactory users, LettuceConnectionFactory admin) throws Exception {
        RedisConnector connector =
                new RedisConnector(users, Duration.ofSeconds(10), RateLimitScript.load(), RateLimitLibrary.load());
        try {
            connector.connect();
            EverythingInRedis redis =
                    new EverythingInRedis(TestStores.over(connector, "ratelimit:" + RedisUnderTest.newPrefix()));
            redis.useEveryKind();
            try (RedisConnection connection = admin.getConnection()) {
                connection.scriptingCommands().scriptFlush();
            }
            redis.useEveryKind();
        } finally {
            connector.destroy();
        }
    }

    private void useEveryKind() {
        for (LimitKind kind : LimitKind.values()) {
            RateLimit limit = kind.limit("limit", 3, "3/h");
            // Of one name, so that each finds what the kind before it has left, and leaves it to the next.
            Stream.of("alice", "bob").forEach(key -> take(limit, key));
            use(kind.limit("of-" + kind, 2, "2/h"));
        }
        RateLimit bucket = TestLimits.tokenBucket("limit", 3, "3/h");
        Stream.of("alice", "bob")
                .forEach(key -> store.change(bucket, key, BucketChange.RESET)
                        .toCompletableFuture()
                        .join());
        takeTogether();
        shortenLog();
    }

    private void use(RateLimit limit) {
        assertThat(take(limit, "alice").allowed()).isTrue();
        assertThat(takeAsync(limit)).isTrue();
        assertThat(store.decide(StoreRequest.peek(new Charge(limit, "alice", 0)))
                        .await()
                        .decision()
                        .remaining())
                .isZero();
        List<Charge> other = List.of(new Charge(limit, "bob", 2));
        StoreOutcome decided = store.decide(StoreRequest.refundable(other))
                .toStage()
                .toCompletableFuture()
                .join();
        decided.refund().refund(other).toCompletableFuture().join();
        assertThat(store.decide(StoreRequest.peek(new Charge(limit, "bob", 2)))
                        .await()
                        .decision()
                        .remaining())
                .isEqualTo(2);
        store.change(limit, "alice", BucketChange.RESET).toCompletableFuture().join();
        assertThat(store.decide(StoreRequest.peek(new Charge(limit, "alice", 0)))
                        .await()
                        .decision()
                        .remaining())
                .isEqualTo(2);
    }

    /** By its last block, the third. */
    private void shortenLog() {
        RateLimit log = LimitKind.SLIDING_WINDOW_LOG.limit("log", 40, "40/h");
        for (int call = 0; call < 32; call++) {
            take(log, "alice");
        }
        List<Charge> last = List.of(new Charge(log, "alice", 2));
        StoreOutcome decided = store.decide(StoreRequest.refundable(last))
                .toStage()
                .toCompletableFuture()
                .join();
        assertThat(store.decide(StoreRequest.peek(new Charge(log, "alice", 39)))
                        .await()
                        .decision()
                        .allowed())
                .isFalse();
        decided.refund().refund(last).toCompletableFuture().join();
        assertThat(take(log, "alice").remaining()).isEqualTo(7);
        store.change(log, "alice", BucketChange.RESET).toCompletableFuture().join();
    }

    private RateLimitDecision take(RateLimit limit, String key) {
        return store.decide(new Charge(limit, key, 1)).await().decision();
    }

    private boolean takeAsync(RateLimit limit) {
        return store.decide(StoreRequest.of(List.of(new Charge(limit, "alice", 1))))
                .toStage()
                .thenApply(StoreOutcome::decisions)
                .toCompletableFuture()
                .join()
                .get(0)
                .allowed();
    }

    private void takeTogether() {
        List<Charge> charges = Stream.of(LimitKind.values())
                .map(kind -> new Charge(kind.limit("joint-" + kind, 2, "2/h"), "key-" + kind, 1))
                .toList();
        assertThat(store.decide(StoreRequest.of(charges)).await().decisions()).allMatch(RateLimitDecision::allowed);
        charges.forEach(charge -> store.change(charge.limit(), charge.key(), BucketChange.RESET)
                .toCompletableFuture()
                .join());
    }
}
