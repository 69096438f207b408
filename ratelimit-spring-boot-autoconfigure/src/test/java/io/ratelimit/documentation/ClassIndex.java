package io.ratelimit.documentation;

import com.sun.source.doctree.DocCommentTree;
import com.sun.source.doctree.DocTree;
import com.sun.source.doctree.LinkTree;
import com.sun.source.doctree.LiteralTree;
import com.sun.source.doctree.TextTree;
import com.sun.source.tree.ClassTree;
import com.sun.source.tree.CompilationUnitTree;
import com.sun.source.util.DocTrees;
import com.sun.source.util.JavacTask;
import com.sun.source.util.TreePath;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.tools.JavaCompiler;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;

/** Lists every class of the main code and every part of the script by package, each with the first sentence of its comment. */
final class ClassIndex {

    private static final Path MAIN = Path.of("src/main/java");

    private static final Path SCRIPT = Path.of("src/main/resources/io/ratelimit/redis");

    private final Map<String, TreeSet<String>> rows = new TreeMap<>();

    /** Returns the index in Markdown. */
    static String markdown() throws IOException {
        ClassIndex index = new ClassIndex();
        index.read();
        index.readScript();
        return index.rows.entrySet().stream()
                .map(entry -> entry.getValue().stream()
                        .collect(Collectors.joining("\n", "## `" + entry.getKey() + "`\n\n", "\n")))
                .collect(Collectors.joining("\n"));
    }

    private void read() throws IOException {
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        try (StandardJavaFileManager files = compiler.getStandardFileManager(null, null, null)) {
            JavacTask task = (JavacTask)
                    compiler.getTask(null, files, null, null, null, files.getJavaFileObjectsFromPaths(sources()));
            DocTrees trees = DocTrees.instance(task);
            for (CompilationUnitTree unit : task.parse()) {
                unit.getTypeDecls().stream()
                        .filter(ClassTree.class::isInstance)
                        .map(ClassTree.class::cast)
                        .forEach(type -> add(unit, type, trees));
            }
        }
    }

    private void readScript() throws IOException {
        for (Path part : files(SCRIPT, ".lua")) {
            String comment = Files.readAllLines(part).stream()
                    .takeWhile(line -> line.startsWith("--"))
                    .map(line -> line.substring(2).strip())
                    .collect(Collectors.joining(" "));
            String summary = comment.substring(0, (comment + " ").indexOf(". ") + 1);
            rows.get("io.ratelimit.redis").add("- `" + part.getFileName() + "`: " + summary);
        }
    }

    private void add(CompilationUnitTree unit, ClassTree type, DocTrees trees) {
        DocCommentTree comment = trees.getDocCommentTree(TreePath.getPath(unit, type));
        String summary = comment == null ? "" : ": " + text(comment.getFirstSentence());
        rows.computeIfAbsent(unit.getPackageName().toString(), name -> new TreeSet<>())
                .add("- `" + type.getSimpleName() + "`" + summary);
    }

    private static List<Path> sources() throws IOException {
        return files(MAIN, ".java").stream()
                .filter(file -> !file.endsWith("package-info.java"))
                .toList();
    }

    private static List<Path> files(Path root, String suffix) throws IOException {
        try (Stream<Path> files = Files.walk(root)) {
            return files.filter(file -> file.toString().endsWith(suffix)).toList();
        }
    }

    private static String text(List<? extends DocTree> parts) {
        return parts.stream()
                .map(ClassIndex::text)
                .collect(Collectors.joining())
                .replaceAll("\\s+", " ")
                .strip();
    }

    private static String text(DocTree part) {
        if (part instanceof TextTree text) {
            return text.getBody();
        }
        if (part instanceof LiteralTree literal) {
            return literal.getBody().getBody();
        }
        if (part instanceof LinkTree link) {
            return link.getLabel().isEmpty()
                    ? link.getReference().getSignature().replace('#', '.')
                    : text(link.getLabel());
        }
        return "";
    }
}
