package io.ratelimit.internal.memory;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.spi.KeyDigest;
import org.junit.jupiter.api.Test;

class BucketKeyTests {

    @Test
    void longKeyTakesNoMoreMemoryThanItsDigest() {
        String key = BucketKey.of("k".repeat(1_000_000));
        assertThat(key).hasSize(192);
        assertThat(key).isEqualTo(BucketKey.of("k".repeat(1_000_000)));
        assertThat(key).isNotEqualTo(BucketKey.of("k".repeat(1_000_001)));
    }

    @Test
    void noKeyReachesABucketByTheDigestOfAnother() {
        String key = BucketKey.of("k".repeat(129));
        assertThat(BucketKey.of(KeyDigest.of("k".repeat(129)))).isNotEqualTo(key);
        assertThat(BucketKey.of(key)).isNotEqualTo(key);
    }

    @Test
    void keysThatAreShortStayAsTheyAre() {
        for (String key : new String[] {"", "alice", "k".repeat(128)}) {
            assertThat(BucketKey.of(key)).isSameAs(key);
        }
    }

    @Test
    void theBucketOfAllCallersIsNobodysOwn() {
        String key = BucketKey.of(null);
        assertThat(key).isEqualTo(BucketKey.of(null)).isNotIn("", BucketKey.of(key));
    }
}
