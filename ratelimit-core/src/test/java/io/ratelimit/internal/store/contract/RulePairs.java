package io.ratelimit.internal.store.contract;

import io.ratelimit.RateLimit;
import io.ratelimit.testing.LimitKind;
import java.util.Arrays;
import java.util.stream.Stream;
import org.junit.jupiter.params.provider.Arguments;

/** Rules that two instances have under one name, while a change is on its way: every kind with every other. */
final class RulePairs {

    private RulePairs() {}

    static Stream<Arguments> all() {
        return Arrays.stream(LimitKind.values())
                .flatMap(first -> Arrays.stream(LimitKind.values()).map(second -> Arguments.of(first, second)));
    }

    /** Capacity 10, 10 a minute. */
    static RateLimit larger(LimitKind kind) {
        return kind.limit("changing", 10, "10/m");
    }

    /** Capacity 5, 15 a minute, which is less at once, more in the long run and another window. */
    static RateLimit faster(LimitKind kind) {
        return kind.limit("changing", 5, "5/20s");
    }
}
