package io.ratelimit.redis;

import java.io.Closeable;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.security.GeneralSecurityException;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/** Speaks TLS on a port of its own, and hands on what it hears to another. */
final class TlsProxy implements AutoCloseable {

    private static final InetAddress HOST = InetAddress.getLoopbackAddress();

    private final ServerSocket server;

    private final int target;

    private final Set<Socket> open = ConcurrentHashMap.newKeySet();

    private final AtomicInteger connections = new AtomicInteger();

    TlsProxy(TestCertificate certificate, int target) throws IOException, GeneralSecurityException {
        this.server = certificate.server().getServerSocketFactory().createServerSocket(0, 50, HOST);
        this.target = target;
        start(this::accept);
    }

    int port() {
        return server.getLocalPort();
    }

    /** How many were made, whatever became of them. */
    int connections() {
        return connections.get();
    }

    private void accept() throws IOException {
        while (true) {
            Socket client = server.accept();
            connections.incrementAndGet();
            Socket redis = new Socket(HOST, target);
            open.add(client);
            open.add(redis);
            start(() -> pump(client, redis));
            start(() -> pump(redis, client));
        }
    }

    private static void pump(Socket from, Socket to) throws IOException {
        try (from;
                to) {
            from.getInputStream().transferTo(to.getOutputStream());
        }
    }

    @Override
    public void close() throws IOException {
        server.close();
        for (Closeable socket : open) {
            socket.close();
        }
    }

    @FunctionalInterface
    private interface Work {

        void run() throws IOException;
    }

    /** Until one side has enough. */
    private static void start(Work work) {
        Thread thread = new Thread(
                () -> {
                    try {
                        work.run();
                    } catch (IOException ex) {
                        // The connection has ended.
                    }
                },
                "tls-proxy");
        thread.setDaemon(true);
        thread.start();
    }
}
