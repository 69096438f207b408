package io.ratelimit.testing;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** Finds the sources of the modules behind the starter, from the directory of any module. */
public final class Sources {

    private static final List<String> MODULES =
            List.of("ratelimit-core", "ratelimit-redis", "ratelimit-spring-boot-autoconfigure");

    private Sources() {}

    /** Returns the files of a folder of each module, such as {@code src/main/java}. */
    public static List<Path> files(String folder) {
        List<Path> files = new ArrayList<>();
        for (Path root : folders(folder)) {
            try (Stream<Path> all = Files.walk(root)) {
                all.filter(Files::isRegularFile).forEach(files::add);
            } catch (IOException ex) {
                throw new UncheckedIOException(ex);
            }
        }
        return files;
    }

    /** Returns a folder in each module that has it. */
    public static List<Path> folders(String folder) {
        List<Path> folders = MODULES.stream()
                .map(module -> Path.of("..", module, folder))
                .filter(Files::isDirectory)
                .toList();
        if (folders.isEmpty()) {
            throw new IllegalArgumentException("No module has " + folder);
        }
        return folders;
    }
}
