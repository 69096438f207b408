package com.acme.acceptance;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** The starter's code as its own build has packaged it. */
final class JarUnderTest {

    private JarUnderTest() {}

    static byte[] content() {
        try {
            return Files.readAllBytes(Path.of(System.getProperty("acceptance.jar")));
        } catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }
}
