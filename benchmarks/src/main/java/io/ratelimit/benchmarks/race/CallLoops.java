package io.ratelimit.benchmarks.race;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.invoke.MethodHandles;
import java.util.Objects;

/**
 * Makes copies of the loop's class. The JIT compiles a loop for the calls that it has seen in it: one class for all
 * contestants would make every call a virtual one, which costs the fast ones more than they do themselves.
 */
final class CallLoops {

    private CallLoops() {}

    /** @param timed whether it times each call */
    static CallLoop copy(boolean timed) {
        Class<? extends CallLoop> loop = timed ? TimedCallLoop.class : PlainCallLoop.class;
        try (InputStream classFile = CallLoops.class.getResourceAsStream(loop.getSimpleName() + ".class")) {
            return (CallLoop) MethodHandles.lookup()
                    .defineHiddenClass(Objects.requireNonNull(classFile).readAllBytes(), true)
                    .lookupClass()
                    .getDeclaredConstructor()
                    .newInstance();
        } catch (IOException ex) {
            throw new UncheckedIOException(ex);
        } catch (ReflectiveOperationException ex) {
            throw new IllegalStateException(ex);
        }
    }
}
