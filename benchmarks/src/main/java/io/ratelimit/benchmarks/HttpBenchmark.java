package io.ratelimit.benchmarks;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;

/**
 * How much processor time the sample spends on a request, as a ratio to the same request without rate limits. Each contestant is the
 * sample in a JVM of its own, on Tomcat, with 32 kept connections. Contestants take short turns, each between two turns of the sample
 * without limits; the result is the median of these paired ratios. For Linux: see {@link ProcessorTime}.
 *
 * <p>After {@code ./mvnw package -pl benchmarks,sample-app -am -DskipTests}, with the number of rounds and the seconds to warm up:
 * {@code java -cp benchmarks/target/benchmarks.jar io.ratelimit.benchmarks.HttpBenchmark 15 20}
 */
public final class HttpBenchmark {

    private static final Path SAMPLE = Path.of("sample-app/target/sample-app-0.1.0-SNAPSHOT.jar");

    private static final int CONNECTIONS = 32;

    private static final int SECONDS_OF_A_TURN = 2;

    private static final int MAX_SECONDS_TO_START = 60;

    private static final String QUOTE = "/api/quotes?user=alice";

    private static final String IN_MEMORY = "--ratelimit.store=in-memory";

    /** Hardly refilled: a lease ends when its permits would have come back. */
    private static final String NEVER_EMPTY =
            "--ratelimit.limits.quotes.capacity=1000000000 --ratelimit.limits.quotes.rate=1/s";

    private static final String EMPTY = "--ratelimit.limits.quotes.capacity=1 --ratelimit.limits.quotes.rate=1/d";

    private static final String LEASED = "--ratelimit.limits.quotes.lease=100";

    private static final String EMPTY_RULE =
            "--ratelimit.limits.front.rate=1/d --ratelimit.http[0].path=/api/** --ratelimit.http[0].limit=front";

    private HttpBenchmark() {}

    public static void main(String[] args) throws Exception {
        int rounds = Integer.parseInt(args[0]);
        int secondsToWarmUp = Integer.parseInt(args[1]);
        List<Contestant> contestants = new ArrayList<>();
        try {
            Contestant floor = start(contestants, "without limits", 200, QUOTE, "--ratelimit.enabled=false");
            start(contestants, "a 404 of Spring's", 404, "/api/none", "--ratelimit.enabled=false");
            start(contestants, "allowed in memory", 200, QUOTE, IN_MEMORY, NEVER_EMPTY);
            start(contestants, "allowed in Redis", 200, QUOTE, NEVER_EMPTY);
            start(contestants, "allowed by a lease", 200, QUOTE, NEVER_EMPTY, LEASED);
            start(contestants, "rejected by the annotation, in memory", 429, QUOTE, IN_MEMORY, EMPTY);
            start(contestants, "rejected by the annotation, Redis", 429, QUOTE, EMPTY);
            start(contestants, "rejected by a URL rule", 429, QUOTE, IN_MEMORY, NEVER_EMPTY, EMPTY_RULE);
            for (Contestant contestant : contestants) {
                contestant.run(secondsToWarmUp);
            }
            for (int round = 0; round < rounds; round++) {
                double before = floor.run(SECONDS_OF_A_TURN);
                for (Contestant contestant : contestants.subList(1, contestants.size())) {
                    double own = contestant.run(SECONDS_OF_A_TURN);
                    double after = floor.run(SECONDS_OF_A_TURN);
                    contestant.ratios.add(own / ((before + after) / 2));
                    before = after;
                }
            }
            System.out.println("| request | × the processor time without limits | quartiles | µs |");
            System.out.println("|---|---|---|---|");
            contestants.forEach(Contestant::print);
        } finally {
            contestants.forEach(Contestant::stop);
        }
    }

    private static Contestant start(
            List<Contestant> contestants, String name, int status, String path, String... arguments) throws Exception {
        Contestant started = new Contestant(name, status, path, arguments);
        contestants.add(started);
        started.awaitStart();
        return started;
    }

    private static int freePort() {
        try (ServerSocket socket = new ServerSocket(0)) {
            return socket.getLocalPort();
        } catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    /** The sample with its arguments. */
    private static final class Contestant {

        private final String name;

        private final int status;

        private final byte[] request;

        private final int port = freePort();

        private final Process process;

        private final List<Double> ratios = new ArrayList<>();

        private final List<Double> micros = new ArrayList<>();

        Contestant(String name, int status, String path, String... arguments) throws IOException {
            this.name = name;
            this.status = status;
            this.request = ("GET " + path + " HTTP/1.1\r\nHost: localhost\r\nAccept: application/json\r\n\r\n")
                    .getBytes(StandardCharsets.US_ASCII);
            List<String> command = new ArrayList<>(List.of(
                    ProcessHandle.current().info().command().orElse("java"),
                    "-Xmx256m",
                    "-XX:+UseSerialGC",
                    "-jar",
                    SAMPLE.toString(),
                    "--server.address=127.0.0.1",
                    "--server.port=" + port,
                    "--server.tomcat.max-keep-alive-requests=-1",
                    "--logging.level.root=warn"));
            Stream.of(arguments)
                    .flatMap(given -> Arrays.stream(given.split(" ", -1)))
                    .forEach(command::add);
            this.process = new ProcessBuilder(command)
                    .redirectErrorStream(true)
                    .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                    .start();
        }

        void awaitStart() throws IOException, InterruptedException {
            long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(MAX_SECONDS_TO_START);
            while (true) {
                try (Connection connection = new Connection(port)) {
                    // The first call takes the only permit.
                    connection.call(request);
                    int answer = connection.call(request);
                    if (answer != status) {
                        throw new IllegalStateException(name + ": " + answer);
                    }
                    return;
                } catch (IOException ex) {
                    if (System.nanoTime() > deadline || !process.isAlive()) {
                        throw ex;
                    }
                    Thread.sleep(200);
                }
            }
        }

        /** Returns the microseconds of processor time that a request has taken. */
        double run(int seconds) throws Exception {
            AtomicLong calls = new AtomicLong();
            List<Throwable> failures = new ArrayList<>();
            List<Thread> threads = new ArrayList<>();
            double before = ProcessorTime.micros(process);
            long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(seconds);
            for (int i = 0; i < CONNECTIONS; i++) {
                Thread thread = new Thread(() -> calls.addAndGet(callUntil(end)));
                thread.setUncaughtExceptionHandler((failed, failure) -> {
                    synchronized (failures) {
                        failures.add(failure);
                    }
                });
                threads.add(thread);
                thread.start();
            }
            for (Thread thread : threads) {
                thread.join();
            }
            if (!failures.isEmpty()) {
                throw new IllegalStateException(name, failures.get(0));
            }
            double micro = (ProcessorTime.micros(process) - before) / calls.get();
            micros.add(micro);
            return micro;
        }

        private long callUntil(long end) {
            long calls = 0;
            try (Connection connection = new Connection(port)) {
                while (System.nanoTime() < end) {
                    int answer = connection.call(request);
                    if (answer != status) {
                        throw new IllegalStateException("status " + answer);
                    }
                    calls++;
                }
            } catch (IOException ex) {
                throw new UncheckedIOException(ex);
            }
            return calls;
        }

        void print() {
            System.out.printf(
                    Locale.ROOT,
                    "| %s | %s | %s–%s | %.0f |%n",
                    name,
                    quantile(ratios, 0.5),
                    quantile(ratios, 0.25),
                    quantile(ratios, 0.75),
                    // The first was the warm-up.
                    micros.stream()
                            .skip(1)
                            .sorted()
                            .skip((micros.size() - 1) / 2)
                            .findFirst()
                            .orElse(Double.NaN));
        }

        private static String quantile(List<Double> values, double share) {
            return values.isEmpty()
                    ? "1"
                    : String.format(
                            Locale.ROOT,
                            "%.2f",
                            values.stream()
                                    .sorted()
                                    .skip((long) (share * (values.size() - 1)))
                                    .findFirst()
                                    .orElseThrow());
        }

        void stop() {
            process.destroy();
        }
    }

    /** A kept connection, by which one request is sent at a time. */
    private static final class Connection implements AutoCloseable {

        private final Socket socket;

        private final InputStream in;

        Connection(int port) throws IOException {
            this.socket = new Socket(InetAddress.getLoopbackAddress(), port);
            this.socket.setTcpNoDelay(true);
            this.socket.setSoTimeout((int) TimeUnit.SECONDS.toMillis(10));
            this.in = new BufferedInputStream(socket.getInputStream());
        }

        /** Returns the status of the answer, whose body it reads and drops. */
        int call(byte[] request) throws IOException {
            socket.getOutputStream().write(request);
            int status = Integer.parseInt(line().substring(9, 12));
            int length = 0;
            boolean chunked = false;
            for (String header = line(); !header.isEmpty(); header = line()) {
                String lower = header.toLowerCase(Locale.ROOT);
                if (lower.startsWith("content-length:")) {
                    length = Integer.parseInt(lower.substring(15).strip());
                }
                chunked |= lower.startsWith("transfer-encoding:");
            }
            if (!chunked) {
                in.skipNBytes(length);
                return status;
            }
            for (int chunk = Integer.parseInt(line(), 16); chunk > 0; chunk = Integer.parseInt(line(), 16)) {
                in.skipNBytes(chunk + 2);
            }
            line();
            return status;
        }

        private String line() throws IOException {
            StringBuilder line = new StringBuilder();
            for (int next = in.read(); next != '\n'; next = in.read()) {
                if (next < 0) {
                    throw new IOException("The connection has ended");
                }
                if (next != '\r') {
                    line.append((char) next);
                }
            }
            return line.toString();
        }

        @Override
        public void close() throws IOException {
            socket.close();
        }
    }
}
