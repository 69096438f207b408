package io.ratelimit.benchmarks.results;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.util.List;
import org.junit.jupiter.api.Test;

class QuartilesTests {

    @Test
    void anOddNumberHasItsMedianInTheMiddleWhateverTheOrder() {
        assertThat(Quartiles.of(List.of(5.0, 1.0, 3.0, 2.0, 4.0))).isEqualTo(new Quartiles(2, 3, 4));
    }

    @Test
    void anEvenNumberHasItBetweenTheTwoInTheMiddle() {
        assertThat(Quartiles.of(List.of(4.0, 1.0, 3.0, 2.0))).isEqualTo(new Quartiles(1.75, 2.5, 3.25));
    }

    @Test
    void oneNumberIsAllThree() {
        assertThat(Quartiles.of(List.of(7.0))).isEqualTo(new Quartiles(7, 7, 7));
    }

    @Test
    void oneTurnThatWasDisturbedMovesNothing() {
        assertThat(Quartiles.of(List.of(1.0, 1.0, 1.0, 1.0, 1_000.0)).median()).isEqualTo(1);
    }

    @Test
    void ofNothingThereIsNoMiddle() {
        assertThatIllegalArgumentException().isThrownBy(() -> Quartiles.of(List.of()));
    }
}
