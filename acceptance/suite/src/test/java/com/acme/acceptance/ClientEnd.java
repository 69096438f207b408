package com.acme.acceptance;

import java.io.IOException;
import java.io.InputStream;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;

/** A way in which the client of a request goes, on a connection of its own. */
enum ClientEnd {

    /** Closes the connection. */
    FIN,

    /** Resets it. */
    RST,

    /** Reads until the server ends a response that has no end. */
    TIMEOUT,

    /** Sends nothing more, and reads the rest of the response. */
    HALF_CLOSED;

    /** How long a response may take. Some servers leave a response without an end. */
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    /**
     * Sends a request, and returns whether the client has gone as it should: false if it had to wait for longer.
     *
     * @param stay how long the client stays; null if it goes as soon as the response begins
     */
    boolean request(int port, String path, Duration stay) throws IOException {
        try (Socket socket = new Socket("127.0.0.1", port)) {
            String request = "GET " + path + (this == TIMEOUT ? "?endless=true" : "")
                    + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
            socket.getOutputStream().write(request.getBytes(StandardCharsets.US_ASCII));
            boolean begun = this == TIMEOUT || stay(socket, stay);
            switch (this) {
                // Before the close, which is a reset if part of the response has not been read.
                case FIN -> shutdownOutput(socket);
                case RST -> socket.setSoLinger(true, 0);
                case HALF_CLOSED -> {
                    shutdownOutput(socket);
                    return begun && read(socket, PATIENCE, false);
                }
                case TIMEOUT -> {
                    return read(socket, PATIENCE, false);
                }
            }
            return begun;
        }
    }

    /** Returns false if a client that goes when the response begins has had to go without. */
    private static boolean stay(Socket socket, Duration stay) throws IOException {
        if (stay != null) {
            read(socket, stay, false);
            return true;
        }
        return read(socket, PATIENCE, true);
    }

    private static void shutdownOutput(Socket socket) {
        try {
            socket.shutdownOutput();
        } catch (IOException ex) {
            // The server has reset the connection.
        }
    }

    /** Reads to the end or the beginning of the response, and returns whether it got there in time. */
    private static boolean read(Socket socket, Duration time, boolean beginning) throws IOException {
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
            } while (read >= 0 && !beginning);
            return true;
        } catch (SocketTimeoutException ex) {
            return false;
        } catch (IOException ex) {
            // The server has reset the connection, as some do at a timeout.
            return true;
        }
    }
}
