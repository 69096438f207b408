package io.ratelimit.memory;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.KeyDigest;
import io.ratelimit.RateLimit;
import io.ratelimit.TestLimits;
import java.util.Objects;
import org.junit.jupiter.api.Test;

class BucketKeyTests {

    private static final RateLimit LIMIT = TestLimits.tokenBucket("limit", 1, "1/s");

    @Test
    void longKeyTakesNoMoreMemoryThanItsDigest() {
        BucketKey key = BucketKey.of(LIMIT, "k".repeat(1_000_000));
        assertThat(key.key()).hasSize(64);
        assertThat(key).isEqualTo(BucketKey.of(LIMIT, "k".repeat(1_000_000)));
        assertThat(key).isNotEqualTo(BucketKey.of(LIMIT, "k".repeat(1_000_001)));
    }

    @Test
    void nobodyReachesABucketByTheDigestOfItsKey() {
        BucketKey long129 = BucketKey.of(LIMIT, "k".repeat(129));
        BucketKey digest = BucketKey.of(LIMIT, KeyDigest.of("k".repeat(129)));
        assertThat(digest).isNotEqualTo(long129);
        assertThat(digest.compareTo(long129)).isNotZero().isEqualTo(-long129.compareTo(digest));
    }

    @Test
    void keysThatAreShortStayAsTheyAre() {
        for (String key : new String[] {null, "", "alice", "k".repeat(128)}) {
            assertThat(BucketKey.of(LIMIT, key).key()).isEqualTo(key);
            assertThat(BucketKey.of(LIMIT, key)).isEqualByComparingTo(BucketKey.of(LIMIT, key));
            assertThat(Objects.equals(BucketKey.of(LIMIT, key), BucketKey.of(LIMIT, "bob")))
                    .isFalse();
        }
    }
}
