package com.acme.acceptance;

import java.io.IOException;
import java.io.InputStream;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;

/** A way in which the client of a request goes, on a connection of its own. */
enum ClientEnd {

    /** Closes the connection while the response is written. */
    FIN,

    /** Resets it. */
    RST,

    /** Reads until the server ends a response that has no end. */
    TIMEOUT,

    /** Sends nothing more, and reads the whole response. */
    HALF_CLOSED;

    /** @param reading how long a client reads that goes before the end of the response */
    void request(int port, String path, Duration reading) throws IOException {
        try (Socket socket = new Socket("127.0.0.1", port)) {
            String request = "GET " + path + (this == TIMEOUT ? "?endless=true" : "")
                    + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
            socket.getOutputStream().write(request.getBytes(StandardCharsets.US_ASCII));
            switch (this) {
                case FIN -> read(socket, reading);
                case RST -> {
                    read(socket, reading);
                    socket.setSoLinger(true, 0);
                }
                case TIMEOUT -> read(socket, Application.PATIENCE);
                case HALF_CLOSED -> {
                    socket.shutdownOutput();
                    read(socket, Application.PATIENCE);
                }
            }
        }
    }

    /** Reads to the end of the response, or until the time is over. */
    private static void read(Socket socket, Duration time) throws IOException {
        long end = System.nanoTime() + time.toNanos();
        byte[] buffer = new byte[8192];
        InputStream input = socket.getInputStream();
        try {
            int read;
            do {
                long millis = (end - System.nanoTime()) / 1_000_000;
                if (millis <= 0) {
                    return;
                }
                socket.setSoTimeout((int) millis);
                read = input.read(buffer);
            } while (read >= 0);
        } catch (SocketTimeoutException ex) {
            // The time is over.
        } catch (IOException ex) {
            // The server has reset the connection, as some do at a timeout.
        }
    }
}
