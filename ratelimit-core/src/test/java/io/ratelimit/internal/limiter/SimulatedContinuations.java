package io.ratelimit.internal.limiter;

import io.ratelimit.internal.concurrent.Continuations;
import java.lang.reflect.Field;
import java.util.concurrent.Executor;

/** Runs what follows a wait in the time of a simulation, in the place of the threads of a gate. */
public final class SimulatedContinuations {

    private SimulatedContinuations() {}

    public static RateLimitGate by(Executor threads, RateLimitGate gate) {
        try {
            Object continuations = field(RateLimitGate.class, "continuations").get(gate);
            field(Continuations.class, "threads").set(continuations, threads);
            return gate;
        } catch (ReflectiveOperationException ex) {
            throw new LinkageError("a gate has no such threads", ex);
        }
    }

    private static Field field(Class<?> of, String name) throws NoSuchFieldException {
        Field field = of.getDeclaredField(name);
        field.setAccessible(true);
        return field;
    }
}
