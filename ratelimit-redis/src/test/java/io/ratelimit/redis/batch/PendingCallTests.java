package io.ratelimit.redis.batch;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.redis.door.Deadline;
import io.ratelimit.redis.door.Deadlines;
import io.ratelimit.redis.script.ScriptCall;
import io.ratelimit.spi.Charge;
import io.ratelimit.testing.LimitKind;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class PendingCallTests {

    @ParameterizedTest
    @EnumSource
    void onlyALogWeighsMoreThanOne(LimitKind kind) {
        List<Charge> charges = List.of(new Charge(kind.limit("limit", 3, "3/h"), "key", 2));
        Deadline deadline = Deadlines.in(Duration.ofHours(1));
        int weight = new PendingCall<>(ScriptCall.CHARGE, charges, 0, List.of(), deadline, true, List::get).weight();
        if (kind == LimitKind.SLIDING_WINDOW_LOG) {
            assertThat(weight).isGreaterThan(1);
        } else {
            assertThat(weight).isEqualTo(1);
        }
    }
}
