package io.ratelimit.benchmarks.redis;

import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/**
 * A Redis that is far away: a proxy that passes on all bytes, in their order, half a round trip after they have come. It
 * lives as long as the JVM.
 */
final class DelayedWire {

    private static final int CHUNK = 1 << 16;

    private static final InetAddress LOOPBACK = InetAddress.getLoopbackAddress();

    private final long delay;

    private final RedisAddress redis;

    private final ServerSocket server;

    private DelayedWire(RedisAddress redis, Duration roundTrip) throws IOException {
        this.redis = redis;
        this.delay = roundTrip.toNanos() / 2;
        this.server = new ServerSocket(0, 50, LOOPBACK);
    }

    /** Returns where the Redis can be reached over such a wire. */
    static RedisAddress to(RedisAddress redis, Duration roundTrip) {
        try {
            DelayedWire wire = new DelayedWire(redis, roundTrip);
            start("accept", wire::accept);
            return RedisAddress.of(wire.server.getLocalPort());
        } catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    private void accept() throws IOException {
        while (true) {
            Socket client = server.accept();
            Socket target = new Socket(LOOPBACK, redis.port());
            connect(client, target);
            connect(target, client);
        }
    }

    private void connect(Socket from, Socket to) throws IOException {
        to.setTcpNoDelay(true);
        BlockingQueue<Chunk> underWay = new LinkedBlockingQueue<>();
        start("read", () -> {
            InputStream in = from.getInputStream();
            byte[] buffer = new byte[CHUNK];
            int length;
            do {
                length = in.read(buffer);
                underWay.add(new Chunk(System.nanoTime() + delay, Arrays.copyOf(buffer, Math.max(0, length))));
            } while (length >= 0);
        });
        start("write", () -> {
            try (to) {
                OutputStream out = to.getOutputStream();
                while (true) {
                    Chunk next = underWay.take();
                    TimeUnit.NANOSECONDS.sleep(next.due - System.nanoTime());
                    if (next.bytes.length == 0) {
                        throw new EOFException();
                    }
                    out.write(next.bytes);
                }
            }
        });
    }

    private static void start(String name, Work work) {
        Thread thread = new Thread(
                () -> {
                    try {
                        work.run();
                    } catch (IOException | InterruptedException ex) {
                        // The connection is over, and so is this end of it.
                    }
                },
                "wire-" + name);
        thread.setDaemon(true);
        thread.start();
    }

    private static final class Chunk {

        private final long due;

        private final byte[] bytes;

        private Chunk(long due, byte[] bytes) {
            this.due = due;
            this.bytes = bytes;
        }
    }

    @FunctionalInterface
    private interface Work {

        void run() throws IOException, InterruptedException;
    }
}
