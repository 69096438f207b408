package io.ratelimit.autoconfigure;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import javax.tools.JavaCompiler;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;
import org.springframework.boot.SpringApplicationAotProcessor;
import org.springframework.context.aot.AbstractAotProcessor;

/** Processes an application ahead of time, as Spring Boot's plugins do, and compiles the generated code. */
final class AotProcessing {

    private final Path directory;

    private AotProcessing(Path directory) {
        this.directory = directory;
    }

    /** Generates and compiles into the directory. */
    static AotProcessing of(Class<?> application, Path directory, String... arguments) {
        AbstractAotProcessor.Settings settings = AbstractAotProcessor.Settings.builder()
                .sourceOutput(directory.resolve("sources"))
                .resourceOutput(directory.resolve("classes"))
                .classOutput(directory.resolve("classes"))
                .groupId("com.acme")
                .artifactId("quotes")
                .build();
        new SpringApplicationAotProcessor(application, settings, arguments).process();
        AotProcessing processed = new AotProcessing(directory);
        processed.compile();
        return processed;
    }

    private void compile() {
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        try (StandardJavaFileManager files = compiler.getStandardFileManager(null, null, null);
                Stream<Path> sources = Files.walk(directory.resolve("sources"))) {
            List<Path> generated =
                    sources.filter(file -> file.toString().endsWith(".java")).toList();
            String classPath = classes() + System.getProperty("path.separator") + System.getProperty("java.class.path");
            List<String> options = List.of(
                    "-proc:none", "-nowarn", "-cp", classPath, "-d", classes().toString());
            if (!compiler.getTask(null, files, null, options, null, files.getJavaFileObjectsFromPaths(generated))
                    .call()) {
                throw new IllegalStateException("The generated code cannot be compiled");
            }
        } catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    /** Returns the directory of the generated classes and resources. */
    Path classes() {
        return directory.resolve("classes");
    }

    /** Returns the metadata for native images. */
    String nativeMetadata() {
        try {
            return Files.readString(
                    classes().resolve("META-INF/native-image/com.acme/quotes/reachability-metadata.json"));
        } catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }
}
