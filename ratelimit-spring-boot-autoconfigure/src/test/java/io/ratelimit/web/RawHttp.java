package io.ratelimit.web;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** Sends requests as they are written, which a client for HTTP would tidy up. */
record RawHttp(int port) {

    /** @param requestLine {@code GET /api}, without the version */
    Answer send(String requestLine, String... headers) {
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
            String request = requestLine + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
                    + String.join(
                            "",
                            Arrays.stream(headers)
                                    .map(header -> header + "\r\n")
                                    .toList()) + "\r\n";
            socket.getOutputStream().write(request.getBytes(StandardCharsets.ISO_8859_1));
            return new Answer(new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8));
        } catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    record Answer(String text) {

        int status() {
            return Integer.parseInt(text.split(" ", 3)[1]);
        }
    }
}
