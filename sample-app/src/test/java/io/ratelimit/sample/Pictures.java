package io.ratelimit.sample;

import io.ratelimit.sample.browser.Browser;
import java.awt.image.BufferedImage;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;
import javax.imageio.ImageIO;

/**
 * The pictures of a page in {@code docs/images}, light and dark, and beside them the digest of the files that the page was made
 * of when they were taken.
 */
enum Pictures {
    PLAYGROUND("src/main/resources/static"),
    DASHBOARD("../ratelimit-spring-boot-dashboard/src/main/resources/io/ratelimit/dashboard");

    private static final Path DIRECTORY = Path.of("..", "docs", "images");

    private static final int WIDTH = 1100;

    private static final int HEIGHT = 760;

    private final Path sources;

    Pictures(String sources) {
        this.sources = Path.of(sources);
    }

    Path file(boolean dark) {
        return DIRECTORY.resolve(page() + (dark ? "-dark.png" : "-light.png"));
    }

    /** Takes both pictures of the page that is open: of its upper part. */
    void take(Browser browser, Path temporary) throws IOException {
        Files.createDirectories(DIRECTORY);
        for (boolean dark : new boolean[] {false, true}) {
            Path whole = temporary.resolve("whole.png");
            browser.screenshot(WIDTH, dark, whole);
            BufferedImage image = ImageIO.read(whole.toFile());
            ImageIO.write(
                    image.getSubimage(0, 0, image.getWidth(), Math.min(HEIGHT, image.getHeight())),
                    "png",
                    file(dark).toFile());
        }
        Files.writeString(digestFile(), digest() + "\n");
    }

    /** Returns the digest of the page when its pictures were taken. */
    String takenOf() throws IOException {
        return Files.readString(digestFile()).strip();
    }

    /** Returns the digest of the page's files, whatever their line ends. */
    String digest() throws IOException {
        try (Stream<Path> files = Files.walk(sources)) {
            MessageDigest digest = MessageDigest.getInstance("SHA-256");
            List<Path> sorted = files.filter(Files::isRegularFile).sorted().toList();
            for (Path file : sorted) {
                digest.update(sources.relativize(file).toString().getBytes(StandardCharsets.UTF_8));
                digest.update(Files.readString(file).replace("\r\n", "\n").getBytes(StandardCharsets.UTF_8));
            }
            return HexFormat.of().formatHex(digest.digest());
        } catch (NoSuchAlgorithmException ex) {
            throw new UncheckedIOException(new IOException(ex));
        }
    }

    /** Returns the brightness, up to 255, of a corner, where a page has nothing but its background. */
    static int brightness(Path picture) throws IOException {
        int colour = ImageIO.read(picture.toFile()).getRGB(2, 2);
        return ((colour >> 16 & 255) + (colour >> 8 & 255) + (colour & 255)) / 3;
    }

    private Path digestFile() {
        return DIRECTORY.resolve(page() + ".sha256");
    }

    private String page() {
        return name().toLowerCase(Locale.ROOT);
    }
}
