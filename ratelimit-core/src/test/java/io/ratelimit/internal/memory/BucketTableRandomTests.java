package io.ratelimit.internal.memory;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.RateLimit;
import io.ratelimit.testing.TestLimits;
import io.ratelimit.testing.TestRandom;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/** A table so small that it looks at all buckets, beside a plain map of what must be in it. */
class BucketTableRandomTests {

    private static final RateLimit LIMIT = TestLimits.fixedWindow("limit", 10, "10/h");

    private final Random random = TestRandom.create(BucketTableRandomTests.class);

    private final Map<String, Bucket> expected = new TreeMap<>();

    private final Set<String> held = new HashSet<>();

    private CompiledLimit limit;

    private int keys;

    @Test
    void alwaysTheLeastUsedGoesThatIsNotHeld() {
        for (int i = 0; i < 300; i++) {
            expected.clear();
            held.clear();
            int max = 1 + random.nextInt(16);
            BucketTable table = new BucketTable(max, (limit, state, clock) -> use(state), () -> {}, random::nextInt);
            limit = CompiledLimit.of(LIMIT, table);
            for (int step = 0; step < 200; step++) {
                step(table, max);
            }
        }
    }

    private void step(BucketTable table, int max) {
        if (expected.isEmpty() || random.nextInt(3) == 0) {
            add(table, max);
        } else {
            use(table, max);
        }
        assertThat(table.size()).isEqualTo(expected.size());
        expected.forEach((key, bucket) -> assertThat(table.get(limit, key)).isSameAs(bucket));
    }

    private void use(BucketTable table, int max) {
        String key = List.copyOf(expected.keySet()).get(random.nextInt(expected.size()));
        Bucket bucket = expected.get(key);
        if (held.contains(key)) {
            return;
        }
        switch (random.nextInt(3)) {
            case 0 -> {
                held.add(key);
                assertThat(TestStates.hold(bucket, () -> {
                            for (int steps = random.nextInt(5); steps > 0; steps--) {
                                step(table, max);
                            }
                            bucket.write(randomState());
                        }))
                        .isTrue();
                held.remove(key);
            }
            case 1 -> assertThat(TestStates.write(bucket, randomState())).isTrue();
            default -> {
                table.remove(limit, key);
                expected.remove(key);
            }
        }
    }

    private void add(BucketTable table, int max) {
        Map<String, EvictionPriority> uses = new TreeMap<>();
        expected.forEach((key, bucket) -> {
            if (!held.contains(key)) {
                uses.put(key, use(TestStates.read(bucket)));
            }
        });
        String newcomer = "key" + keys++;
        Bucket bucket = new Bucket(limit, newcomer, randomState());
        assertThat(table.add(bucket, 0)).isTrue();
        if (expected.size() == max && uses.isEmpty()) {
            return;
        }
        if (expected.size() == max) {
            List<String> gone = new ArrayList<>(expected.keySet());
            gone.removeIf(key -> table.get(limit, key) != null);
            assertThat(gone).hasSize(1);
            assertThat(uses.get(gone.get(0))).isEqualTo(Collections.min(uses.values()));
            expected.remove(gone.get(0));
        }
        expected.put(newcomer, bucket);
    }

    private static EvictionPriority use(BucketState state) {
        return new EvictionPriority(
                (double) TestStates.used(state) / LIMIT.capacity(), state.own().since());
    }

    private BucketState randomState() {
        return TestStates.of(LIMIT, random.nextInt(11), random.nextInt(5));
    }
}
