package io.ratelimit.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.Charge;
import io.ratelimit.store.LimitKind;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class ScriptWeightTests {

    @ParameterizedTest
    @EnumSource
    void onlyALogWeighsMoreThanOne(LimitKind kind) {
        int weight = ScriptWeight.of(new Charge(kind.limit("limit", 3, "3/h"), "key", 2));
        if (kind == LimitKind.SLIDING_WINDOW_LOG) {
            assertThat(weight).isGreaterThan(1);
        } else {
            assertThat(weight).isEqualTo(1);
        }
    }
}
