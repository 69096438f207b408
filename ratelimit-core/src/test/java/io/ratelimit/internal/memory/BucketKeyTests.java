package io.ratelimit.internal.memory;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.spi.KeyDigest;
import org.junit.jupiter.api.Test;

class BucketKeyTests {

    @Test
    void longKeyTakesNoMoreMemoryThanItsDigest() {
        Object key = BucketKey.of("k".repeat(1_000_000));
        assertThat(key)
                .isInstanceOfSatisfying(
                        BucketKey.Digest.class,
                        digest -> assertThat(digest.digest()).hasSize(64));
        assertThat(key).isEqualTo(BucketKey.of("k".repeat(1_000_000)));
        assertThat(key).isNotEqualTo(BucketKey.of("k".repeat(1_000_001)));
    }

    @Test
    void nobodyReachesABucketByTheDigestOfItsKey() {
        assertThat(BucketKey.of(KeyDigest.of("k".repeat(129)))).isNotEqualTo(BucketKey.of("k".repeat(129)));
    }

    @Test
    void digestsHaveAnOrder() {
        BucketKey.Digest one = new BucketKey.Digest("1");
        assertThat(one).isLessThan(new BucketKey.Digest("2")).isEqualByComparingTo(new BucketKey.Digest("1"));
    }

    @Test
    void keysThatAreShortStayAsTheyAre() {
        for (String key : new String[] {"", "alice", "k".repeat(128)}) {
            assertThat(BucketKey.of(key)).isSameAs(key);
        }
    }

    @Test
    void theBucketOfAllCallersIsNobodysOwn() {
        assertThat(BucketKey.of(null)).isEqualTo(BucketKey.of(null)).isNotEqualTo(BucketKey.of(""));
    }
}
