package io.ratelimit.web;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** Sends requests as they are written, which a client for HTTP would tidy up. */
record RawHttp(int port) {

    /**
     * @param requestLine {@code GET /api}, without the version
     * @param headers may name another host
     */
    Answer send(String requestLine, String... headers) {
        return exchange(requestLine, "", headers);
    }

    Answer post(String path, String form) {
        return exchange(
                "POST " + path,
                form,
                "Content-Type: application/x-www-form-urlencoded",
                "Content-Length: " + form.length());
    }

    private Answer exchange(String requestLine, String body, String... headers) {
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
            String host =
                    Arrays.stream(headers).anyMatch(header -> header.startsWith("Host:")) ? "" : "Host: localhost\r\n";
            String request = requestLine + " HTTP/1.1\r\n" + host + "Connection: close\r\n"
                    + String.join(
                            "",
                            Arrays.stream(headers)
                                    .map(header -> header + "\r\n")
                                    .toList()) + "\r\n" + body;
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
