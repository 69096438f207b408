package io.ratelimit.spi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.ratelimit.testing.TestLimits;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class StoreRequestTests {

    private final Charge charge = new Charge(TestLimits.tokenBucket("quotes", 1, "1/h"), "alice", 1);

    @Test
    void needsACharge() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> StoreRequest.of(List.of()))
                .withMessage("A request must have at least one charge");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> charge.with(List.of()))
                .withMessage("A request must have at least one charge");
    }

    @Test
    void oneChargeIsTheSameRequestWithAndWithoutAList() {
        assertThat(charge).isEqualTo(StoreRequest.of(List.of(charge)));
        assertThat(charge.charges()).containsExactly(charge);
        assertThat(StoreRequest.of(List.of(charge)).isSingle()).isTrue();
    }

    @Test
    void doesNotChangeWithTheListItWasMadeOf() {
        List<Charge> charges = new ArrayList<>(List.of(charge));
        StoreRequest request = StoreRequest.of(charges);
        StoreRequest other = request.with(charges);
        charges.clear();
        assertThat(request.charges()).containsExactly(charge);
        assertThat(other.charges()).containsExactly(charge);
    }

    @Test
    void immutableListIsNotCopied() {
        List<Charge> charges = List.of(charge, new Charge(charge.limit(), "bob", 1));
        assertThat(StoreRequest.of(charges).charges()).isSameAs(charges);
    }
}
