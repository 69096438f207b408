package com.acme.acceptance;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** What a client sees whose large upload is rejected before the server has read it. */
class UploadTests {

    /** More than the server and both ends of a connection buffer. */
    private static final int MEGABYTES = 64;

    private static final String REJECTED = "HTTP/1.1 429";

    static List<Container> containers() {
        List<Container> containers = new ArrayList<>();
        containers.add(new Container("Netty", "reactive", true));
        containers.add(new Container("Tomcat", "servlet", false));
        containers.add(
                new Container("Tomcat that reads all", "servlet", true, "server.tomcat.max-swallow-size=-1"));
        containers.add(new Container("Jetty", "jetty", false));
        if (Files.exists(Path.of(System.getProperty("acceptance.directory"), "undertow", "target", "undertow-1.jar"))) {
            // By default it answers any upload of more than 2 MB with a 500, also if there is no limit.
            containers.add(new Container("Undertow", "undertow", true, "server.undertow.max-http-post-size=1GB"));
        }
        return containers;
    }

    @ParameterizedTest
    @MethodSource("containers")
    void clientThatSendsAllBeforeItReadsSeesTheRejectionIfTheServerReadsAll(Container container) throws IOException {
        Application application = container.start();
        try {
            application.allowed(container.path());
            application.allowed(container.path());
            int port = application.port();
            assertThat(uploadThenRead(port, container)).startsWith(container.readsAll() ? REJECTED : "broken: ");
            assertThat(readWhileUploading(port, container)).startsWith(REJECTED);
        } finally {
            application.stop();
        }
    }

    private static String uploadThenRead(int port, Container container) {
        try (Socket socket = new Socket("127.0.0.1", port)) {
            upload(socket, container.path());
            return status(socket);
        } catch (IOException ex) {
            return "broken: " + ex.getMessage();
        }
    }

    private static String readWhileUploading(int port, Container container) throws IOException {
        try (Socket socket = new Socket("127.0.0.1", port)) {
            CompletableFuture<String> status = CompletableFuture.supplyAsync(() -> status(socket));
            try {
                upload(socket, container.path());
            } catch (IOException ex) {
                // The server has closed the connection.
            }
            return status.join();
        }
    }

    private static void upload(Socket socket, String path) throws IOException {
        socket.setSoTimeout((int) Duration.ofMinutes(1).toMillis());
        OutputStream out = socket.getOutputStream();
        byte[] megabyte = new byte[1 << 20];
        String head = "POST " + path + " HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/octet-stream\r\n"
                + "Content-Length: " + (long) MEGABYTES * megabyte.length + "\r\n\r\n";
        out.write(head.getBytes(StandardCharsets.US_ASCII));
        for (int i = 0; i < MEGABYTES; i++) {
            out.write(megabyte);
        }
    }

    private static String status(Socket socket) {
        try {
            return new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.ISO_8859_1))
                    .readLine();
        } catch (IOException ex) {
            return "broken: " + ex.getMessage();
        }
    }

    /** @param readsAll whether the server reads what it does not need */
    private record Container(String name, String module, boolean readsAll, String... properties) {

        Application start() {
            return Application.start(
                            module,
                            Stream.concat(Stream.of(Application.redis().properties()), Stream.of(properties))
                                    .toArray(String[]::new))
                    .overHttp1();
        }

        /** Limited to two requests, in the Redis that all share. */
        String path() {
            return "/url/upload-to-" + name.replace(' ', '-');
        }

        @Override
        public String toString() {
            return name;
        }
    }
}
