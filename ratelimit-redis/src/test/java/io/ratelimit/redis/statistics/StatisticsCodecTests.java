package io.ratelimit.redis.statistics;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.internal.statistics.CallCounts;
import io.ratelimit.internal.statistics.InstanceFigures;
import io.ratelimit.internal.statistics.InstanceState;
import io.ratelimit.internal.statistics.Publication;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class StatisticsCodecTests {

    private static final Instant SEEN = Instant.ofEpochSecond(1_800_000_100);

    private static final Instant STARTED = Instant.ofEpochSecond(1_800_000_000);

    static List<InstanceState> states() {
        return List.of(
                new InstanceState("shared", null, List.of()),
                new InstanceState("on-store-failure", "out_of_memory", List.of()),
                new InstanceState("on-store-failure", "timeout", List.of("eu")),
                new InstanceState("on-store-failure", "timeout", List.of("default", "eu-west_1")));
    }

    @ParameterizedTest
    @MethodSource("states")
    void instanceIsReadAsItWasWritten(InstanceState state) {
        InstanceFigures instance = new InstanceFigures(
                "id", "4711@my host", STARTED, SEEN, state, Map.of("quotes", new CallCounts(1, 2, 3, 4)));
        assertThat(StatisticsCodec.instance("id", stored(instance))).contains(instance);
    }

    /** Instances of several versions share their figures while a new one is rolled out. */
    @Test
    void wordsOfOtherVersionsAreIgnored() {
        InstanceFigures instance = new InstanceFigures(
                "id", "4711@host", STARTED, SEEN, new InstanceState("shared", null, List.of()), Map.of());
        assertThat(StatisticsCodec.instance("id", stored(instance).replace("\n", " - more words\n")))
                .get()
                .extracting(InstanceFigures::name, known -> known.state().state())
                .containsExactly("4711@host", "shared");
    }

    /** Returns what the script writes: the time and the number of the last counts, and then the note. */
    private static String stored(InstanceFigures instance) {
        Publication publication = new Publication("id", instance, 5, 0, micros(STARTED), new TreeMap<>());
        return micros(SEEN) + " 5 " + StatisticsCodec.note(publication);
    }

    private static long micros(Instant time) {
        return time.getEpochSecond() * 1_000_000;
    }
}
