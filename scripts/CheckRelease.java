import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Stream;
import java.util.zip.ZipFile;
import javax.xml.parsers.DocumentBuilderFactory;
import org.w3c.dom.Element;
import org.w3c.dom.Node;

/**
 * Checks a folder that a release was deployed to, as the central Maven repository does: {@code java scripts/CheckRelease.java folder
 * [--unsigned] [--draft]}. Prints what is missing, and then ends with 1. In a draft, POMs need not say yet where the project is to be found.
 */
class CheckRelease {

    /** Of each POM whose parent is not in the folder; others inherit them. */
    private static final List<String> INHERITED = List.of("url", "licenses", "developers", "scm");

    /** What the owner fills in, because it is not known until the project has a public address; with an example. */
    private static final Map<String, String> PUBLIC = new TreeMap<>(Map.of(
            "url", "<url>https://example.com/ratelimit</url>",
            "developers", "<developers><developer><name>…</name><email>…</email></developer></developers>",
            "scm", "<scm><url>https://example.com/ratelimit</url><connection>scm:git:…</connection></scm>"));

    private final List<String> problems = new ArrayList<>();

    private final List<String> open = new ArrayList<>();

    private final Set<String> fillIn = new TreeSet<>();

    /** By the artifact's name, from the files of the folder. */
    private final Map<String, Element> poms = new TreeMap<>();

    private final boolean signed;

    private final boolean draft;

    private CheckRelease(boolean signed, boolean draft) {
        this.signed = signed;
        this.draft = draft;
    }

    public static void main(String[] args) throws Exception {
        if (args.length == 0) {
            System.err.println("usage: java scripts/CheckRelease.java folder [--unsigned] [--draft]");
            System.exit(2);
        }
        List<String> options = List.of(args);
        CheckRelease check = new CheckRelease(!options.contains("--unsigned"), options.contains("--draft"));
        check.folder(Path.of(args[0]));
        check.open.forEach(missing -> System.out.println("Before a release: " + missing));
        check.problems.forEach(System.err::println);
        if (!check.problems.isEmpty()) {
            check.fillIn.forEach(element -> System.err.println("Fill in pom.xml: " + PUBLIC.get(element)));
            System.exit(1);
        }
        System.out.println(check.poms.size() + " artifacts are complete: " + String.join(", ", check.poms.keySet()));
    }

    private void folder(Path folder) throws Exception {
        List<Path> files;
        try (Stream<Path> all = Files.walk(folder)) {
            files = all.filter(Files::isRegularFile)
                    .filter(file -> !file.getFileName().toString().startsWith("maven-metadata"))
                    .sorted()
                    .toList();
        }
        List<Path> models = files.stream().filter(file -> file.toString().endsWith(".pom")).toList();
        require(!models.isEmpty(), folder + " has no POM");
        for (Path model : models) {
            Element pom = DocumentBuilderFactory.newInstance()
                    .newDocumentBuilder()
                    .parse(model.toFile())
                    .getDocumentElement();
            poms.put(text(pom, "artifactId"), pom);
        }
        for (Path model : models) {
            model(model);
        }
        for (Path file : files) {
            if (!file.toString().matches(".*\\.(asc|md5|sha1|sha256|sha512)")) {
                checksums(file);
                require(!signed || Files.exists(Path.of(file + ".asc")), file.getFileName() + " has no signature");
            }
        }
    }

    private void model(Path file) throws IOException {
        String base = file.toString().replaceFirst("\\.pom$", "");
        String artifact = file.getParent().getParent().getFileName().toString();
        Element pom = poms.get(artifact);
        if (pom == null) {
            problems.add(file.getFileName() + " is of another artifact than its folder");
            return;
        }
        for (String own : List.of("name", "description")) {
            require(isFilled(pom, own), artifact + " has no <" + own + ">");
        }
        Element parent = child(pom, "parent");
        if (parent == null || !poms.containsKey(text(parent, "artifactId"))) {
            for (String inherited : INHERITED) {
                String missing = artifact + " has no <" + inherited + ">";
                if (isFilled(pom, inherited)) {
                    continue;
                }
                if (PUBLIC.containsKey(inherited)) {
                    fillIn.add(inherited);
                }
                (draft && PUBLIC.containsKey(inherited) ? open : problems).add(missing);
            }
        }
        String packaging = text(pom, "packaging");
        if (packaging == null || packaging.equals("jar")) {
            for (String jar : List.of(".jar", "-sources.jar", "-javadoc.jar")) {
                jar(Path.of(base + jar));
            }
        }
    }

    private void jar(Path file) throws IOException {
        if (!Files.exists(file)) {
            problems.add(file.getFileName() + " is missing");
            return;
        }
        try (ZipFile jar = new ZipFile(file.toFile())) {
            require(jar.size() > 0, file.getFileName() + " is empty");
        }
    }

    private void checksums(Path file) throws Exception {
        for (String algorithm : List.of("MD5", "SHA-1")) {
            Path sum = Path.of(file + "." + algorithm.toLowerCase().replace("-", ""));
            String actual = HexFormat.of().formatHex(MessageDigest.getInstance(algorithm).digest(Files.readAllBytes(file)));
            require(
                    Files.exists(sum) && Files.readString(sum).strip().startsWith(actual),
                    sum.getFileName() + " is missing or wrong");
        }
    }

    private void require(boolean condition, String problem) {
        if (!condition) {
            problems.add(problem);
        }
    }

    private static boolean isFilled(Element pom, String name) {
        String text = text(pom, name);
        return text != null && !text.isEmpty();
    }

    private static String text(Element element, String name) {
        Element child = child(element, name);
        return child == null ? null : child.getTextContent().strip();
    }

    private static Element child(Element element, String name) {
        for (Node child = element.getFirstChild(); child != null; child = child.getNextSibling()) {
            if (child instanceof Element found && found.getTagName().equals(name)) {
                return found;
            }
        }
        return null;
    }
}
