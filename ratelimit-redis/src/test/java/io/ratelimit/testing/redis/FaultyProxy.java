package io.ratelimit.testing.redis;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Pattern;
import javax.net.ServerSocketFactory;
import org.jspecify.annotations.Nullable;

/** Passes on what an application and its Redis say to each other, and can lose or hold it. */
public final class FaultyProxy implements AutoCloseable {

    private static final Pattern SCRIPT = Pattern.compile("eval|fcall");

    private final int target;

    private final ServerSocket server;

    private final Set<Socket> sockets = ConcurrentHashMap.newKeySet();

    private final AtomicInteger connections = new AtomicInteger();

    private final AtomicInteger repliesToLose = new AtomicInteger();

    /** In lower case. */
    private volatile List<String> refused = List.of();

    private final AtomicInteger refusals = new AtomicInteger();

    /** Through which new connections go. */
    private volatile Gate gate = new Gate();

    private final Queue<Gate> gatesOfTheLost = new ConcurrentLinkedQueue<>();

    /** How long a byte is on its way, in either direction. */
    private final Duration way;

    public FaultyProxy(int target) {
        this(target, Duration.ZERO);
    }

    public FaultyProxy(int target, Duration way) {
        this(ServerSocketFactory.getDefault(), 0, target, way);
    }

    /** Applications reach it by TLS, and it reaches the server without. */
    public FaultyProxy(int target, TestCertificate certificate) throws IOException, GeneralSecurityException {
        this(target, certificate, 0);
    }

    /** @param port its own; 0: any */
    public FaultyProxy(int target, TestCertificate certificate, int port) throws IOException, GeneralSecurityException {
        this(certificate.server().getServerSocketFactory(), port, target, Duration.ZERO);
    }

    private FaultyProxy(ServerSocketFactory sockets, int port, int target, Duration way) {
        this.target = target;
        this.way = way;
        try {
            server = sockets.createServerSocket(port, 100, InetAddress.getLoopbackAddress());
        } catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
        start(this::accept);
    }

    public int port() {
        return server.getLocalPort();
    }

    /** How many connections were made, whatever became of them. */
    public int connections() {
        return connections.get();
    }

    /** Resets a connection in the place of a reply to a script, so many times: the script has run, and no client knows. */
    public void loseReplies(int number) {
        repliesToLose.set(number);
    }

    /** Closes each connection by which one of the commands is sent, as proxies do with those that they do not know. */
    public void refuse(String... commands) {
        refused = List.of(commands);
    }

    public int refusals() {
        return refusals.get();
    }

    public int repliesToLose() {
        return repliesToLose.get();
    }

    /** Nothing gets through, nothing is closed. */
    public void swallow() {
        gate.shut();
    }

    /** All gets through, and what was on its way arrives. */
    public void pass() {
        gate.open();
    }

    /** Nothing gets through the connections that there are, ever again; new ones are well. */
    public void loseConnections() {
        gate.shut();
        gatesOfTheLost.add(gate);
        gate = new Gate();
    }

    private void accept() {
        try {
            while (true) {
                Socket client = server.accept();
                sockets.add(client);
                connections.incrementAndGet();
                Gate own = gate;
                own.pass();
                Socket redis = new Socket(InetAddress.getLoopbackAddress(), target);
                sockets.add(redis);
                AtomicBoolean asked = new AtomicBoolean();
                start(() -> forward(client, redis, asked, own, new Way()));
                start(() -> answer(redis, client, asked, own, new Way()));
            }
        } catch (IOException ex) {
            // The end of the test, or of the server.
            close();
        }
    }

    private void forward(Socket client, Socket redis, AtomicBoolean asked, Gate own, Way way) {
        byte[] buffer = new byte[65_536];
        try (client;
                redis;
                way) {
            for (int length = read(client, buffer, own); length >= 0; length = read(client, buffer, own)) {
                String sent = new String(buffer, 0, length, StandardCharsets.ISO_8859_1).toLowerCase(Locale.ROOT);
                if (refused.stream().anyMatch(command -> sent.contains("\n" + command + "\r"))) {
                    refusals.incrementAndGet();
                    return;
                }
                if (SCRIPT.matcher(sent).find()) {
                    asked.set(true);
                }
                way.write(redis, buffer, length);
            }
        } catch (IOException ex) {
            // One of them is gone, so both are closed.
        }
    }

    private void answer(Socket redis, Socket client, AtomicBoolean asked, Gate own, Way way) {
        byte[] buffer = new byte[65_536];
        try (client;
                redis;
                way) {
            for (int length = read(redis, buffer, own); length >= 0; length = read(redis, buffer, own)) {
                if (asked.get() && repliesToLose.getAndUpdate(left -> Math.max(0, left - 1)) > 0) {
                    client.setSoLinger(true, 0);
                    return;
                }
                way.write(client, buffer, length);
            }
        } catch (IOException ex) {
            // One of them is gone, so both are closed.
        }
    }

    private static int read(Socket socket, byte[] buffer, Gate own) throws IOException {
        int length = socket.getInputStream().read(buffer);
        own.pass();
        return length;
    }

    private static void start(Runnable work) {
        Thread thread = new Thread(work, "wire");
        thread.setDaemon(true);
        thread.start();
    }

    @Override
    public void close() {
        gate.open();
        gatesOfTheLost.forEach(Gate::open);
        try {
            server.close();
            for (Socket socket : sockets) {
                socket.close();
            }
        } catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    /** What is under way in one direction arrives in its order. */
    private final class Way implements AutoCloseable {

        private final @Nullable ScheduledExecutorService arrivals =
                way.isZero() ? null : Executors.newSingleThreadScheduledExecutor();

        void write(Socket socket, byte[] buffer, int length) throws IOException {
            if (arrivals == null) {
                socket.getOutputStream().write(buffer, 0, length);
                return;
            }
            byte[] bytes = Arrays.copyOf(buffer, length);
            var unused = arrivals.schedule(
                    () -> {
                        socket.getOutputStream().write(bytes);
                        return null;
                    },
                    way.toNanos(),
                    TimeUnit.NANOSECONDS);
        }

        @Override
        public void close() {
            if (arrivals != null) {
                arrivals.shutdownNow();
            }
        }
    }

    /** Stops everything that wants to pass while it is shut. */
    private static final class Gate {

        private boolean shut;

        synchronized void shut() {
            shut = true;
        }

        synchronized void open() {
            shut = false;
            notifyAll();
        }

        synchronized void pass() throws IOException {
            try {
                while (shut) {
                    wait();
                }
            } catch (InterruptedException ex) {
                throw new IOException(ex);
            }
        }
    }
}
