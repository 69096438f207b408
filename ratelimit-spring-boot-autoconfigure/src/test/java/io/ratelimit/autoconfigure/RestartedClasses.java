package io.ratelimit.autoconfigure;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionTimeoutException;

/**
 * Restarts an application as devtools does: its classes are loaded anew, those of libraries stay. Has a JVM of its own, which
 * clears soft references at once.
 */
final class RestartedClasses extends ClassLoader {

    private static final Duration PATIENCE = Duration.ofSeconds(60);

    private RestartedClasses() {
        super(RestartedClasses.class.getClassLoader());
    }

    /** Prints what is left of two restarts. */
    public static void main(String[] arguments) throws InterruptedException {
        // CGLIB keeps the stack of its first use.
        RestartedApplication.run(arguments);
        List<WeakReference<ClassLoader>> restarts = List.of(restart(arguments), restart(arguments));
        try {
            Awaitility.await().atMost(PATIENCE).until(() -> {
                System.gc();
                return !isSomethingLeft(restarts);
            });
        } catch (ConditionTimeoutException ex) {
            // What is left is printed.
        }
        System.out.println("Left: "
                + restarts.stream().filter(restart -> restart.get() != null).count() + " class loaders, "
                + threads().toList());
        System.exit(0);
    }

    private static boolean isSomethingLeft(List<WeakReference<ClassLoader>> restarts) {
        return restarts.stream().anyMatch(restart -> restart.get() != null)
                || threads().findAny().isPresent();
    }

    /** The threads of the starter, except those of the JVM, which end a little later. */
    private static Stream<String> threads() {
        return Thread.getAllStackTraces().keySet().stream()
                .map(Thread::getName)
                .filter(name -> name.startsWith("ratelimit-"))
                .filter(name -> !name.equals("ratelimit-timer") && !name.equals("ratelimit-watchdog"));
    }

    private static WeakReference<ClassLoader> restart(String[] arguments) throws InterruptedException {
        ClassLoader loader = new RestartedClasses();
        Thread thread = new Thread(() -> run(loader, arguments));
        thread.setContextClassLoader(loader);
        thread.start();
        thread.join();
        return new WeakReference<>(loader);
    }

    private static void run(ClassLoader loader, String[] arguments) {
        try {
            loader.loadClass(RestartedApplication.class.getName())
                    .getMethod("run", String[].class)
                    .invoke(null, (Object) arguments);
        } catch (ReflectiveOperationException ex) {
            ex.printStackTrace();
            System.exit(1);
        }
    }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
        if (!name.startsWith(RestartedApplication.class.getName())) {
            return super.loadClass(name, resolve);
        }
        Class<?> loaded = findLoadedClass(name);
        return loaded != null ? loaded : define(name);
    }

    private Class<?> define(String name) {
        try (InputStream in = getResourceAsStream(name.replace('.', '/') + ".class")) {
            byte[] code = in.readAllBytes();
            return defineClass(name, code, 0, code.length, getClass().getProtectionDomain());
        } catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }
}
