package io.ratelimit.redis.door;

import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.github.resilience4j.circuitbreaker.CircuitBreaker;
import io.ratelimit.RateLimitStoreException;
import io.ratelimit.RateLimitStoreException.Reason;
import io.ratelimit.redis.door.CircuitState.Closed;
import io.ratelimit.redis.door.CircuitState.Open;
import io.ratelimit.testing.LongRunning;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jetbrains.kotlinx.lincheck.Actor;
import org.jetbrains.kotlinx.lincheck.execution.ExecutionScenario;
import org.jetbrains.lincheck.LincheckAssertionError;
import org.jetbrains.lincheck.datastructures.ModelCheckingOptions;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Validate;
import org.junit.jupiter.api.Test;

/** Runs calls that fail and probes that succeed in every order that the model checker finds: a server whose breaker is open is probed. */
@LongRunning
class ServerCircuitBreakerModelCheckingTests {

    private static final CircuitBreaker WINDOW = CircuitBreaker.ofDefaults("window");

    @Test
    void openCircuitIsAlwaysProbed() throws NoSuchMethodException {
        options(FailuresAndProbes.class).check(FailuresAndProbes.class);
    }

    /** As it once was: the opening was told by a look before and a look after. */
    @Test
    void openingThatIsNotOneTransitionIsFound() throws NoSuchMethodException {
        ModelCheckingOptions options = options(LookBeforeAndAfter.class);
        assertThatExceptionOfType(LincheckAssertionError.class)
                .isThrownBy(() -> options.check(LookBeforeAndAfter.class))
                .withMessageContaining("open without a probe");
    }

    /** A late failure meets an opening and its probe; and two openings meet two probes. */
    private static ModelCheckingOptions options(Class<?> circuit) throws NoSuchMethodException {
        Actor call = actor(circuit, "failingCall");
        Actor probe = actor(circuit, "probe");
        Actor check = actor(circuit, "openIsProbed");
        return new ModelCheckingOptions()
                .addCustomScenario(new ExecutionScenario(
                        List.of(), List.of(List.of(call), List.of(call, probe)), List.of(), check))
                .addCustomScenario(new ExecutionScenario(
                        List.of(call), List.of(List.of(call, call), List.of(probe, probe)), List.of(), check))
                .iterations(0)
                .invocationsPerIteration(1_000)
                .minimizeFailedScenario(false);
    }

    private static Actor actor(Class<?> circuit, String method) throws NoSuchMethodException {
        return new Actor(circuit.getMethod(method), List.of());
    }

    public static class FailuresAndProbes {

        private final CircuitState circuit = new CircuitState(() -> WINDOW);

        private final AtomicBoolean probing = new AtomicBoolean();

        @Operation
        public void failingCall() {
            Closed during = circuit.closed();
            if (during != null && circuit.open(during, failure())) {
                probing.set(true);
            }
        }

        /** Probing ends when the circuit is seen closed. */
        @Operation
        public void probe() {
            if (probing.compareAndSet(true, false)) {
                Open probe = circuit.probe(0, 1);
                if (probe != null) {
                    circuit.succeeded(probe);
                }
                if (circuit.closed() == null) {
                    probing.set(true);
                }
            }
        }

        @Validate
        public void openIsProbed() {
            check(circuit.closed() == null, probing.get());
        }
    }

    public static class LookBeforeAndAfter {

        private final AtomicBoolean open = new AtomicBoolean();

        private final AtomicBoolean probing = new AtomicBoolean();

        @Operation
        public void failingCall() {
            if (open.get()) {
                return;
            }
            boolean wasOpen = open.get();
            open.compareAndSet(false, true);
            if (!wasOpen && open.get()) {
                probing.set(true);
            }
        }

        @Operation
        public void probe() {
            if (probing.compareAndSet(true, false)) {
                open.compareAndSet(true, false);
                if (open.get()) {
                    probing.set(true);
                }
            }
        }

        @Validate
        public void openIsProbed() {
            check(open.get(), probing.get());
        }
    }

    private static RateLimitStoreException failure() {
        return new RateLimitStoreException(Reason.TIMEOUT, "no answer in time", null);
    }

    private static void check(boolean open, boolean probing) {
        if (open && !probing) {
            throw new IllegalStateException("open without a probe");
        }
    }
}
