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

    /** How long a response may take. Some servers leave a response without an end. */
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    /**
     * Sends a request, and returns whether the client has gone as it should: false if it had to wait for longer.
     *
     * @param reading how long a client reads that goes before the end of the response
     */
    boolean request(int port, String path, Duration reading) throws IOException {
        try (Socket socket = new Socket("127.0.0.1", port)) {
            String request = "GET " + path + (this == TIMEOUT ? "?endless=true" : "")
                    + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
            socket.getOutputStream().write(request.getBytes(StandardCharsets.US_ASCII));
            if (this == HALF_CLOSED) {
                socket.shutdownOutput();
            }
            boolean toTheEnd = this == HALF_CLOSED || this == TIMEOUT;
            boolean ended = read(socket, toTheEnd ? PATIENCE : reading);
            if (this == RST) {
                socket.setSoLinger(true, 0);
            }
            return ended || !toTheEnd;
        }
    }

    /** Reads to the end of the response, or until the time is over, and returns whether it has ended. */
    private static boolean read(Socket socket, Duration time) throws IOException {
        long end = System.nanoTime() + time.toNanos();
        byte[] buffer = new byte[8192];
        InputStream input = socket.getInputStream();
        try {
            int read;
            do {
                long millis = (end - System.nanoTime()) / 1_000_000;
                if (millis <= 0) {
                    return false;
                }
                socket.setSoTimeout((int) millis);
                read = input.read(buffer);
            } while (read >= 0);
            return true;
        } catch (SocketTimeoutException ex) {
            return false;
        } catch (IOException ex) {
            // The server has reset the connection, as some do at a timeout.
            return true;
        }
    }
}
