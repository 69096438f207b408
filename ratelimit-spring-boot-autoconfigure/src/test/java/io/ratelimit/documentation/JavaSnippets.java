package io.ratelimit.documentation;

import io.ratelimit.documentation.MarkdownPage.Snippet;
import java.io.File;
import java.io.IOException;
import java.net.URI;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.tools.DiagnosticCollector;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.stereotype.Component;

/**
 * The Java in the documentation, compiled: types as they are, methods and fields as members of a class, statements as the
 * body of a method. {@code { … }} stands for a body that is left out. The snippets of a section see each other.
 */
final class JavaSnippets implements AutoCloseable {

    private static final String IMPORTS = """
            import io.ratelimit.documentation.domain.*;
            import java.math.BigDecimal;
            import java.time.*;
            import java.util.*;
            import java.util.concurrent.*;
            import java.util.concurrent.atomic.*;
            import org.junit.jupiter.api.*;
            import org.springframework.beans.factory.annotation.*;
            import org.springframework.boot.test.context.*;
            import org.springframework.context.annotation.*;
            import org.springframework.http.*;
            import org.springframework.stereotype.*;
            import org.springframework.web.bind.annotation.*;
            import reactor.core.publisher.*;
            """;

    private static final Pattern IMPORT = Pattern.compile("(?m)^import .*;\\n");

    private static final Pattern TYPE =
            Pattern.compile("(?m)^(?:(?:public|final|abstract) )*(?:class|interface|record|enum|@interface) (\\w+)");

    private static final Pattern METHOD = Pattern.compile(
            "(?m)^(?!if|for|while|try|return|switch|else|new)(?:[\\w<>\\[\\], .?]+ )?\\w+\\([^;]*\\)(?: throws [\\w., ]+)? \\{");

    private final Path classes;

    private final URLClassLoader loader;

    private final Map<Snippet, List<String>> types;

    private JavaSnippets(Path classes, URLClassLoader loader, Map<Snippet, List<String>> types) {
        this.classes = classes;
        this.loader = loader;
        this.types = types;
    }

    /** @throws AssertionError if one does not compile */
    static JavaSnippets compile(List<Snippet> snippets) throws IOException {
        Path classes = Files.createTempDirectory("snippets");
        Map<Snippet, List<String>> types = new LinkedHashMap<>();
        List<JavaFileObject> sources = new ArrayList<>();
        for (Snippet snippet : snippets) {
            Source source = Source.of(snippet);
            sources.add(source);
            types.put(snippet, source.types);
        }
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        DiagnosticCollector<JavaFileObject> mistakes = new DiagnosticCollector<>();
        try (StandardJavaFileManager files = compiler.getStandardFileManager(mistakes, null, null)) {
            List<String> options =
                    List.of("-proc:none", "-parameters", "-nowarn", "-d", classes.toString(), "-cp", classPath());
            if (!compiler.getTask(null, files, mistakes, options, null, sources).call()) {
                throw new AssertionError(
                        mistakes.getDiagnostics().stream().map(Object::toString).collect(Collectors.joining("\n")));
            }
        }
        return new JavaSnippets(
                classes,
                new URLClassLoader(new URL[] {classes.toUri().toURL()}, JavaSnippets.class.getClassLoader()),
                types);
    }

    private static String classPath() {
        return System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
    }

    ClassLoader classLoader() {
        return loader;
    }

    /** The classes of the snippet that are beans: components, and what was not given a class. */
    List<Class<?>> beans(Snippet snippet) throws ClassNotFoundException {
        List<Class<?>> beans = new ArrayList<>();
        for (String name : types.get(snippet)) {
            Class<?> type = Class.forName(name, false, loader);
            if (type.getSimpleName().startsWith("Snippet")
                    || AnnotatedElementUtils.isAnnotated(type, Component.class)) {
                beans.add(type);
            }
        }
        return beans;
    }

    @Override
    public void close() throws IOException {
        loader.close();
        try (Stream<Path> files = Files.walk(classes)) {
            files.map(Path::toFile).sorted((one, other) -> other.compareTo(one)).forEach(File::delete);
        }
    }

    /** A snippet, completed to a source file whose errors name its place. */
    private static final class Source extends SimpleJavaFileObject {

        private final String place;

        private final String content;

        private final List<String> types;

        private Source(String place, String unit, String content, List<String> types) {
            super(URI.create("string:///" + unit.replace('.', '/') + ".java"), Kind.SOURCE);
            this.place = place;
            this.content = content;
            this.types = types;
        }

        static Source of(Snippet snippet) {
            String imports = IMPORT.matcher(snippet.text())
                    .results()
                    .map(found -> found.group())
                    .collect(Collectors.joining());
            String body = IMPORT.matcher(snippet.text())
                    .replaceAll("")
                    .replace("{ … }", "{ throw new UnsupportedOperationException(); }")
                    .replaceAll("(?m)^ *…$", "");
            String section = "documented." + snippet.section().replaceAll("\\W+", "_");
            String name = "Snippet" + snippet.line();
            List<String> types = new ArrayList<>();
            Matcher type = TYPE.matcher(body);
            while (type.find()) {
                types.add(section + "." + type.group(1));
            }
            if (types.isEmpty()) {
                types.add(section + "." + name);
                String members = METHOD.matcher(body).find() ? body : "void run() throws Exception {\n" + body + "}";
                body = "public class " + name + " extends Context {\n" + members + "}\n";
            }
            String content = "package " + section + ";\n" + IMPORTS + imports + body;
            return new Source(snippet.place(), section + "." + name, content, types);
        }

        @Override
        public CharSequence getCharContent(boolean ignoreEncodingErrors) {
            return content;
        }

        @Override
        public String getName() {
            return place;
        }

        @Override
        public boolean isNameCompatible(String simpleName, Kind kind) {
            return true;
        }
    }
}
