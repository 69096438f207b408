package io.ratelimit.autoconfigure;

import java.io.File;
import java.io.IOException;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Comparator;
import java.util.function.Consumer;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Runs an application without some of the libraries here, or with others. In a class loader of its own, because one that
 * only hides classes leaves our own linked against them. All runs share it: most of a start is the loading of classes.
 */
final class OtherClassPath implements AutoCloseable {

    private final URL[] urls;

    private final URLClassLoader loader;

    private OtherClassPath(Stream<File> entries) {
        // Most classes are Spring's, and a class is looked for in one jar after the other.
        urls = entries.sorted(Comparator.comparing(
                        (File entry) -> !entry.isDirectory() && !entry.getName().startsWith("spring-")))
                .map(OtherClassPath::url)
                .toArray(URL[]::new);
        loader = new URLClassLoader(urls, ClassLoader.getPlatformClassLoader());
    }

    /** This class path without the jars of these names. */
    static OtherClassPath without(String missing) {
        return new OtherClassPath(entries(missing));
    }

    /** This class path without the starter's classes and without the jars of these names. */
    static OtherClassPath withoutUs(String missing) {
        return new OtherClassPath(
                entries(missing).filter(entry -> !entry.getName().equals("classes")));
    }

    /** This class path with a jar in the place of those of these names. */
    static OtherClassPath replacing(String missing, Path jar) {
        return new OtherClassPath(Stream.concat(entries(missing), Stream.of(jar.toFile())));
    }

    /** This class path, and a directory before it. */
    static OtherClassPath with(Path directory) {
        return new OtherClassPath(Stream.concat(Stream.of(directory.toFile()), entries("^$")));
    }

    private static Stream<File> entries(String missing) {
        Pattern pattern = Pattern.compile(missing);
        return Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator))
                .map(File::new)
                .filter(entry ->
                        entry.isDirectory() || !pattern.matcher(entry.getName()).find());
    }

    private static URL url(File entry) {
        try {
            return entry.toURI().toURL();
        } catch (MalformedURLException ex) {
            throw new IllegalStateException(ex);
        }
    }

    private URLClassLoader recording(Consumer<String> loaded) {
        return new URLClassLoader(urls, ClassLoader.getPlatformClassLoader()) {
            @Override
            protected Class<?> findClass(String name) throws ClassNotFoundException {
                Class<?> found = super.findClass(name);
                loaded.accept(name);
                return found;
            }
        };
    }

    /** What the static method {@code run} of the application says. */
    Object run(Class<?> application, String... arguments) throws ReflectiveOperationException {
        return run(loader, application, arguments);
    }

    /** @param loaded is told the name of every class that is loaded, except those of the JDK */
    Object run(Class<?> application, Consumer<String> loaded, String... arguments)
            throws ReflectiveOperationException, IOException {
        try (URLClassLoader recording = recording(loaded)) {
            return run(recording, application, arguments);
        }
    }

    private static Object run(ClassLoader loader, Class<?> application, String... arguments)
            throws ReflectiveOperationException {
        Thread thread = Thread.currentThread();
        ClassLoader before = thread.getContextClassLoader();
        try {
            thread.setContextClassLoader(loader);
            return loader.loadClass(application.getName())
                    .getMethod("run", String[].class)
                    .invoke(null, (Object) arguments);
        } finally {
            thread.setContextClassLoader(before);
        }
    }

    @Override
    public void close() throws IOException {
        loader.close();
    }
}
