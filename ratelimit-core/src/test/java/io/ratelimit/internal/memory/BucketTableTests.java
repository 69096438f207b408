package io.ratelimit.internal.memory;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import io.ratelimit.RateLimit;
import io.ratelimit.testing.TestLimits;
import io.ratelimit.testing.TestRandom;
import java.lang.management.ManagementFactory;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class BucketTableTests {

    private static final RateLimit LIMIT = TestLimits.fixedWindow("limit", 100, "100/h");

    private final Random random = TestRandom.create(BucketTableTests.class);

    private CompiledLimit limit;

    /** While a bucket is looked at, so that others can come in between. */
    private Runnable meanwhile = () -> {};

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 16, 17, 4_096, 4_097, 10_000})
    void everybodyHasAPlaceUntilItIsFull(int max) {
        BucketTable table = table(max);
        IntStream.range(0, max).forEach(i -> add(table, "key" + i, 1));
        assertThat(IntStream.range(0, max)).allMatch(i -> known(table, "key" + i));
        for (int i = 0; i < 100; i++) {
            add(table, "newcomer" + i, 1);
            assertThat(known(table, "newcomer" + i)).isTrue();
            assertThat(table.size()).isEqualTo(max);
        }
    }

    @Test
    void theLeastUsedGoes() {
        BucketTable table = table(5);
        IntStream.of(30, 50, 20, 40, 10).forEach(used -> add(table, "key" + used, used));
        add(table, "newcomer", 1);
        assertThat(known(table, "key10")).isFalse();
        add(table, "key15", 15);
        assertThat(known(table, "newcomer")).isFalse();
        add(table, "other", 1);
        assertThat(known(table, "key15")).isFalse();
        assertThat(IntStream.of(20, 30, 40, 50)).allMatch(used -> known(table, "key" + used));
    }

    @Test
    void ofEquallyUsedTheOneGoesThatIsUnusedFirst() {
        BucketTable table = table(3);
        add(table, "second", 100, 2_000);
        add(table, "first", 100, 1_000);
        add(table, "third", 100, 3_000);
        add(table, "newcomer", 100, 4_000);
        assertThat(known(table, "first")).isFalse();
        add(table, "another", 100, 5_000);
        assertThat(known(table, "second")).isFalse();
    }

    @Test
    void aSecondOneOfTheSameKeyIsNotAddedAndTakesNoPlace() {
        BucketTable table = table(10);
        Bucket first = add(table, "key", 1);
        for (int i = 0; i < 100; i++) {
            assertThat(table.add(bucket("key", 2, 0), 0)).isFalse();
        }
        assertThat(table.get(limit, "key")).isSameAs(first);
        IntStream.range(1, 10).forEach(i -> add(table, "key" + i, 1));
        assertThat(table.size()).isEqualTo(10);
    }

    @Test
    void whoIsRemovedLeavesAPlace() {
        BucketTable table = table(10);
        IntStream.range(0, 9).forEach(i -> add(table, "key" + i, 1));
        for (int i = 0; i < 1_000; i++) {
            add(table, "other", 1);
            table.remove(limit, "other");
            assertThat(known(table, "other")).isFalse();
        }
        table.remove(limit, "unknown");
        assertThat(IntStream.range(0, 9)).allMatch(i -> known(table, "key" + i));
    }

    @Test
    void whoIsForgottenTakesNoMoreCharges() {
        BucketTable table = table(1);
        Bucket evicted = add(table, "evicted", 1);
        Bucket removed = add(table, "removed", 1);
        table.remove(limit, "removed");
        for (Bucket bucket : new Bucket[] {evicted, removed}) {
            assertThat(TestStates.read(bucket)).isNull();
            assertThat(bucket.snapshot()).isNull();
            assertThat(bucket.decide(limit, 1, 0)).isNull();
        }
    }

    @Test
    void whoIsHeldStaysAndNobodyWaitsForIt() {
        BucketTable table = table(2);
        Bucket first = add(table, "first", 1);
        Bucket second = add(table, "second", 2);
        assertThat(TestStates.hold(first, () -> {
                    add(table, "third", 3);
                    assertThat(known(table, "first")).isTrue();
                    assertThat(known(table, "second")).isFalse();
                    assertThat(TestStates.read(second)).isNull();
                    Bucket third = table.get(limit, "third");
                    assertThat(TestStates.hold(third, () -> {
                                assertThat(table.add(bucket("fourth", 4, 0), 0)).isTrue();
                                assertThat(known(table, "fourth")).isFalse();
                            }))
                            .isTrue();
                }))
                .isTrue();
        add(table, "fifth", 5);
        assertThat(known(table, "first")).isFalse();
        assertThat(known(table, "fifth")).isTrue();
    }

    @RepeatedTest(20) // Which of the two is looked at first, is random.
    void whoIsUsedWhileItIsLookedAtStaysWithItsCharge() {
        BucketTable table = table(2);
        Bucket used = add(table, "used", 1);
        add(table, "other", 2);
        BucketState charged = state(50, 0);
        meanwhile = () -> TestStates.write(used, charged);
        add(table, "newcomer", 1);
        assertThat(table.get(limit, "used")).isSameAs(used);
        assertThat(TestStates.read(used)).isEqualTo(charged);
        assertThat(known(table, "other")).isFalse();
    }

    @RepeatedTest(20) // Which of the two is looked at first, is random.
    void whoIsChargedWhileItIsLookedAtStaysWithItsCharge() {
        BucketTable table = table(2);
        Bucket charged = add(table, "charged", 1);
        add(table, "other", 5);
        meanwhile = () -> charged.decide(limit, 50, 0);
        add(table, "newcomer", 1);
        assertThat(table.get(limit, "charged")).isSameAs(charged);
        assertThat(TestStates.used(TestStates.read(charged))).isEqualTo(51);
    }

    @RepeatedTest(20) // Which of the two is looked at first, is random.
    void whoIsRemovedWhileItIsLookedAtLeavesOnePlace() {
        BucketTable table = table(2);
        add(table, "removed", 1);
        add(table, "other", 2);
        meanwhile = () -> table.remove(limit, "removed");
        add(table, "newcomer", 1);
        meanwhile = () -> {};
        assertThat(known(table, "removed")).isFalse();
        assertThat(known(table, "newcomer")).isTrue();
        add(table, "another", 3);
        assertThat(table.size()).isEqualTo(2);
    }

    @Test
    void whoIsUnusedIsRemovedUnlessUsedMeanwhile() {
        BucketTable table = table(2);
        Bucket unused = new Bucket(limit, "unused", null);
        table.add(unused, 0);
        Bucket used = add(table, "used", 1);
        table.removeUnused(unused);
        table.removeUnused(used);
        assertThat(known(table, "unused")).isFalse();
        assertThat(known(table, "used")).isTrue();
    }

    @Test
    void placesThatNobodyNeedsCostNothing() {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        long before = threads.getCurrentThreadAllocatedBytes();
        BucketTable table = table(50_000_000);
        add(table, "key", 1);
        assertThat(threads.getCurrentThreadAllocatedBytes() - before).isLessThan(1_000_000);
        assertThat(known(table(Long.MAX_VALUE), "key")).isFalse();
    }

    private BucketTable table(long max) {
        BucketTable table = new BucketTable(
                max,
                (limit, state, clock) -> {
                    meanwhile.run();
                    return state == null
                            ? new EvictionPriority(0, 0)
                            : new EvictionPriority(
                                    (double) TestStates.used(state) / limit.capacity(),
                                    state.own().since() - clock);
                },
                () -> {},
                random::nextInt);
        limit = CompiledLimit.of(LIMIT, table);
        return table;
    }

    private Bucket add(BucketTable table, String key, long used) {
        return add(table, key, used, 0);
    }

    private Bucket add(BucketTable table, String key, long used, long since) {
        Bucket bucket = bucket(key, used, since);
        assertThat(table.add(bucket, 0)).isTrue();
        return bucket;
    }

    private Bucket bucket(String key, long used, long since) {
        return new Bucket(limit, key, state(used, since));
    }

    private static BucketState state(long used, long since) {
        return TestStates.of(LIMIT, used, since);
    }

    private boolean known(BucketTable table, String key) {
        return table.get(limit, key) != null;
    }
}
