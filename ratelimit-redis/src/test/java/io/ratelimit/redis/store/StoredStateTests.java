package io.ratelimit.redis.store;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitDecision;
import io.ratelimit.redis.BothWays;
import io.ratelimit.redis.RedisUnderTest;
import io.ratelimit.spi.Charge;
import io.ratelimit.spi.StoreOutcome;
import io.ratelimit.spi.StoreRequest;
import io.ratelimit.testing.LimitKind;
import io.ratelimit.testing.TestClock;
import io.ratelimit.testing.TestLimits;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.core.RedisCallback;

/**
 * During a rolling upgrade, instances of two releases share their buckets. What each release has written is stored in
 * {@code src/test/state}, a key a line: this version writes the same as the latest, and decides alike by what any of them has written.
 * {@code -Dratelimit.test.write-state=true} stores it anew, which only a new file may need.
 */
class StoredStateTests {

    @RegisterExtension
    static final RedisUnderTest redis = new RedisUnderTest();

    private static final Path STORED = Path.of("src", "test", "state");

    private static final String LATEST = "1.0.0-RC1.txt";

    private static final String TAB = "\t";

    /** The number of an instance is drawn at random. */
    private static final Pattern HOLDER = Pattern.compile("\\d+:\\d+(?==)");

    private static final Pattern ESCAPED = Pattern.compile("\\\\x([0-9a-f]{2})");

    private static final Pattern UNPRINTABLE = Pattern.compile("[^ -\\[\\]-~]");

    private final TestClock clock = new TestClock();

    private final String prefix = RedisUnderTest.newPrefix();

    private final RedisRateLimitStore store = TestStores.over(redis.executorAt(clock), prefix);

    /** Calls that leave a state. */
    record Trace(String name, RateLimit limit, Consumer<StoredStateTests> calls) {

        @Override
        public String toString() {
            return name;
        }
    }

    static Stream<Trace> traces() {
        List<Trace> traces = new ArrayList<>();
        for (LimitKind kind : LimitKind.values()) {
            RateLimit limit = kind.limit("stored-state", 5, "5/10s");
            traces.add(new Trace(kind.name(), limit, test -> test.takeTwice(limit)));
        }
        RateLimit bucket = TestLimits.tokenBucket("stored-state", 5, "5/10s");
        RateLimit larger = TestLimits.tokenBucket("stored-state", 8, "1/s");
        RateLimit window = TestLimits.fixedWindow("stored-state", 9, "9/m");
        traces.add(new Trace("THREE_RULES", bucket, test -> {
            test.takeTwice(bucket);
            test.take(larger, 1);
            test.take(window, 1);
        }));
        RateLimit blocking = TestLimits.blocking(bucket, Duration.ofMinutes(1));
        traces.add(new Trace("BLOCKED", blocking, test -> {
            test.takeTwice(blocking);
            test.take(blocking, 4);
        }));
        traces.add(new Trace("IN_DEBT", bucket, test -> {
            test.takeTwice(bucket);
            test.store
                    .charge(new Charge(bucket, "alice", 20))
                    .toCompletableFuture()
                    .join();
        }));
        traces.add(new Trace("REFUNDED", bucket, test -> {
            StoreOutcome first = test.refundable(bucket, 3);
            test.clock.advance(1_300_000);
            test.take(bucket, 2);
            first.refund()
                    .refund(List.of(new Charge(bucket, "alice", 3)))
                    .toCompletableFuture()
                    .join();
        }));
        for (String unit : List.of("day", "week", "month", "year")) {
            RateLimit calendar = TestLimits.calendarWindow("stored-state", "5/" + unit, "Europe/Berlin");
            traces.add(new Trace("CALENDAR_" + unit, calendar, test -> test.takeTwice(calendar)));
        }
        RateLimit concurrency = TestLimits.concurrency("stored-state", 5);
        traces.add(new Trace("CONCURRENCY", concurrency, test -> test.refundable(concurrency, 3)));
        return traces.stream();
    }

    @ParameterizedTest
    @MethodSource("traces")
    void writesWhatTheLatestReleaseWrites(Trace trace) throws IOException {
        trace.calls().accept(this);
        String written = written();
        if (Boolean.getBoolean("ratelimit.test.write-state")) {
            Map<String, String> all = Files.exists(STORED.resolve(LATEST)) ? stored(LATEST) : new TreeMap<>();
            all.put(trace.name(), written);
            Files.createDirectories(STORED);
            Files.write(
                    STORED.resolve(LATEST),
                    all.entrySet().stream()
                            .map(state -> state.getKey() + TAB + state.getValue())
                            .toList());
        }
        assertThat(written)
                .as(
                        "Instances of %s may not understand this. Let new versions read it first, and write it in a later one",
                        LATEST)
                .isEqualTo(stored(LATEST).get(trace.name()));
    }

    @ParameterizedTest
    @MethodSource("traces")
    void decidesByWhatEachReleaseHasWritten(Trace trace) throws IOException {
        trace.calls().accept(this);
        assertThat(peek(store, trace.limit(), 0).remaining())
                .isLessThan(trace.limit().capacity());
        try (Stream<Path> releases = Files.list(STORED)) {
            for (Path release : releases.toList()) {
                String state = stored(release.getFileName().toString()).get(trace.name());
                if (state == null) {
                    assertThat(release.getFileName().toString()).isNotEqualTo(LATEST);
                    continue;
                }
                String restored = RedisUnderTest.newPrefix();
                restore(restored, state);
                RedisRateLimitStore other = TestStores.over(redis.executorAt(clock), restored);
                for (long permits = 0; permits <= trace.limit().capacity() + 1; permits++) {
                    assertThat(peek(other, trace.limit(), permits))
                            .as("%d permits, after %s by %s", permits, trace, release)
                            .isEqualTo(peek(store, trace.limit(), permits));
                }
            }
        }
    }

    private void takeTwice(RateLimit limit) {
        take(limit, 3);
        clock.advance(1_300_000);
        take(limit, 1);
    }

    private void take(RateLimit limit, long permits) {
        store.decide(new Charge(limit, "alice", permits)).await();
    }

    private StoreOutcome refundable(RateLimit limit, long permits) {
        return store.decide(StoreRequest.refundable(List.of(new Charge(limit, "alice", permits))))
                .await();
    }

    private static RateLimitDecision peek(RedisRateLimitStore of, RateLimit limit, long permits) {
        return of.decide(StoreRequest.peek(new Charge(limit, "alice", permits)))
                .await()
                .decision();
    }

    /** Returns the only key of the test without its prefix, its type, and what is in it. */
    private String written() {
        List<String> keys = List.copyOf(redis.commands().keys(prefix + ":*"));
        assertThat(keys).hasSize(1);
        byte[] key = keys.get(0).getBytes(ISO_8859_1);
        return redis.commands().execute((RedisCallback<String>) connection -> {
            String type = connection.keyCommands().type(key).code();
            Stream<String> values = switch (type) {
                case "string" -> Stream.of(text(connection.stringCommands().get(key)));
                case "list" ->
                    connection.listCommands().lRange(key, 0, -1).stream().map(StoredStateTests::text);
                default ->
                    connection.hashCommands().hGetAll(key).entrySet().stream()
                            .map(field -> text(field.getKey()) + "=" + text(field.getValue()))
                            .map(field -> HOLDER.matcher(field).replaceFirst("1:1"))
                            .sorted();
            };
            return keys.get(0).substring(prefix.length()) + TAB + type + TAB + String.join(TAB, values.toList());
        });
    }

    /** For the script and for the function, which has keys of its own in tests. */
    private static void restore(String prefix, String state) {
        String[] parts = state.split(TAB);
        for (String key : List.of(prefix + parts[0], BothWays.twin(prefix + parts[0]))) {
            redis.commands().execute((RedisCallback<Object>) connection -> {
                byte[] name = key.getBytes(ISO_8859_1);
                Arrays.stream(parts).skip(2).forEach(value -> restore(connection, name, parts[1], value));
                return connection.keyCommands().expire(name, 600);
            });
        }
    }

    private static void restore(RedisConnection connection, byte[] key, String type, String value) {
        switch (type) {
            case "string" -> connection.stringCommands().set(key, bytes(value));
            case "list" -> connection.listCommands().rPush(key, bytes(value));
            default -> {
                int end = value.indexOf('=');
                connection.hashCommands().hSet(key, bytes(value.substring(0, end)), bytes(value.substring(end + 1)));
            }
        }
    }

    private static Map<String, String> stored(String release) {
        try {
            Map<String, String> states = new TreeMap<>();
            for (String line : Files.readAllLines(STORED.resolve(release))) {
                String[] parts = line.split(TAB, 2);
                states.put(parts[0], parts[1]);
            }
            return states;
        } catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    private static String text(byte[] value) {
        return UNPRINTABLE
                .matcher(new String(value, ISO_8859_1))
                .replaceAll(found -> Matcher.quoteReplacement(
                        String.format("\\x%02x", (int) found.group().charAt(0))));
    }

    private static byte[] bytes(String text) {
        return ESCAPED.matcher(text)
                .replaceAll(
                        found -> Matcher.quoteReplacement(String.valueOf((char) Integer.parseInt(found.group(1), 16))))
                .getBytes(ISO_8859_1);
    }
}
