package io.ratelimit.simulation;

import jakarta.servlet.DispatcherType;
import java.util.List;
import java.util.Random;
import java.util.function.Consumer;

/** Requests that a client lets cost what it chooses. */
final class ChosenPermits {

    private static final List<String> CHOSEN = List.of("1", "-1", "99999999999999999999", "5000000000", "x", "NaN");

    private final Random random;

    private final SimulatedContainer container;

    private final Consumer<String> notes;

    ChosenPermits(Random random, SimulatedContainer container, Consumer<String> notes) {
        this.random = random;
        this.container = container;
        this.notes = notes;
    }

    /** A client chooses what its request costs. */
    void request() throws Exception {
        String chosen = CHOSEN.get(random.nextInt(CHOSEN.size()));
        SimulatedRequest request = new SimulatedRequest("/pages/" + chosen);
        boolean[] handled = {false};
        notes.accept("a request for " + chosen + " pages");
        try {
            container.dispatch(request, DispatcherType.REQUEST, () -> handled[0] = true);
        } catch (RuntimeException ex) {
            throw new AssertionError(
                    "a value of a client fails the request: " + chosen + " (" + ex.getMessage() + ")", ex);
        }
        int status = request.response.getStatus();
        boolean good = chosen.equals("1") ? handled[0] : !handled[0] && (status == 400 || status == 429);
        if (!good) {
            throw new AssertionError("a value of a client is answered with " + status + ": " + chosen);
        }
    }
}
