package io.ratelimit.testing.redis;

import static org.awaitility.Awaitility.await;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.springframework.util.FileSystemUtils;
import redis.embedded.RedisExecProvider;

/**
 * A process of the redis-server that Maven has brought: a server, a node of a cluster or a sentinel. It keeps its port and
 * its files over a kill and a restart, and ends with the JVM at the latest.
 */
public final class RedisProcess implements AutoCloseable {

    public static final String HOST = "127.0.0.1";

    private static final Duration PATIENCE = Duration.ofSeconds(60);

    /** The path of the redis-server, or of one that is compatible, instead of the one that Maven has brought. */
    private static final String VARIABLE = "RATELIMIT_TEST_REDIS_SERVER";

    private static final File EXECUTABLE = executable();

    private static final String VERSION = version();

    private static final Set<RedisProcess> RUNNING = ConcurrentHashMap.newKeySet();

    static {
        Runtime.getRuntime().addShutdownHook(new Thread(() -> RUNNING.forEach(RedisProcess::close)));
    }

    private final int port = FreePorts.next();

    private final Path directory;

    private final List<String> command;

    private Process process;

    private RedisProcess(List<String> settings, List<String> options) {
        try {
            directory = Files.createTempDirectory("ratelimit-redis");
            Path configuration = directory.resolve("redis.conf");
            List<String> lines = new ArrayList<>(List.of("port " + port, "bind " + HOST, "dir " + directory));
            lines.addAll(settings);
            Files.write(configuration, lines);
            command = new ArrayList<>(List.of(EXECUTABLE.getPath(), configuration.toString()));
            command.addAll(options);
        } catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    /** One that keeps nothing on the disk, unless the settings, lines of a redis.conf, say so. */
    public static RedisProcess server(String... settings) {
        List<String> lines = new ArrayList<>(List.of("save \"\"", "repl-diskless-sync-delay 0"));
        lines.addAll(List.of(settings));
        return new RedisProcess(lines, List.of()).started();
    }

    /**
     * A node of a cluster. Its bus has a port of its own: that which Redis chooses, 10,000 above the server's, may be one of the
     * system's for clients, or another JVM's. Before Redis 7, it cannot be chosen.
     */
    public static RedisProcess node(String... settings) {
        List<String> lines = new ArrayList<>(List.of(settings));
        lines.add("cluster-enabled yes");
        if (!isBefore7()) {
            lines.add("cluster-port " + FreePorts.next());
        }
        return server(lines.toArray(String[]::new));
    }

    public static RedisProcess sentinel(String... settings) {
        return new RedisProcess(List.of(settings), List.of("--sentinel")).started();
    }

    /** Returns whether the environment names the executable. */
    static boolean isChosen() {
        return !chosen().isEmpty();
    }

    private static String chosen() {
        return Objects.requireNonNullElse(System.getenv(VARIABLE), "").strip();
    }

    /** Returns whether the server is a Redis 5 or 6, which lacks some settings and commands. */
    public static boolean isBefore7() {
        return VERSION.matches("(?s).* v=[56]\\..*");
    }

    private static String version() {
        try {
            Process process = new ProcessBuilder(EXECUTABLE.getPath(), "--version").start();
            return new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    private static File executable() {
        if (isChosen()) {
            return new File(chosen());
        }
        try {
            return RedisExecProvider.defaultProvider().get();
        } catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    private RedisProcess started() {
        try {
            start();
            awaitAnswer();
            return this;
        } catch (RuntimeException ex) {
            close();
            throw ex;
        }
    }

    public int port() {
        return port;
    }

    public String address() {
        return HOST + ":" + port;
    }

    public Object send(Object... words) {
        return RedisSocket.send(port, words);
    }

    /** A replica has all that this master was sent until now. {@code WAIT} knows what its own connection was sent. */
    public void awaitCopy(RedisProcess replica) {
        long sent = replicationOffset();
        await("a replica has all of " + port).atMost(PATIENCE).until(() -> replica.replicationOffset() >= sent);
    }

    private long replicationOffset() {
        String offset = "master_repl_offset:";
        return ((String) send("INFO", "replication"))
                .lines()
                .filter(line -> line.startsWith(offset))
                .mapToLong(line -> Long.parseLong(line.substring(offset.length())))
                .sum();
    }

    /** How often it has answered with this error. */
    public long errors(String kind) {
        String line = "errorstat_" + kind + ":count=";
        return ((String) send("INFO", "errorstats"))
                .lines()
                .filter(stat -> stat.startsWith(line))
                .mapToLong(stat -> Long.parseLong(stat.substring(line.length())))
                .sum();
    }

    /** Does not wait until it answers. One that runs would not be found again: the next one cannot use its port, and ends. */
    public void start() {
        if (process != null && process.isAlive()) {
            throw new IllegalStateException("The server at " + port + " runs already");
        }
        try {
            process = new ProcessBuilder(command)
                    .redirectErrorStream(true)
                    .redirectOutput(ProcessBuilder.Redirect.appendTo(
                            directory.resolve("log").toFile()))
                    .start();
            RUNNING.add(this);
        } catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    /** Not of another server that has the port: this one has ended then. */
    public void awaitAnswer() {
        await("an answer of the server at " + port)
                .atMost(PATIENCE)
                .pollInterval(Duration.ofMillis(5))
                .until(() -> isRunning() && RedisSocket.answers(port, process.pid()));
    }

    private boolean isRunning() throws IOException {
        if (process.isAlive()) {
            return true;
        }
        throw new IllegalStateException(
                "The server at " + port + " has ended: " + Files.readString(directory.resolve("log")));
    }

    /** It is gone without a word, as by SIGKILL. */
    public void kill() {
        process.destroyForcibly();
        awaitEnd();
    }

    public void awaitEnd() {
        process.onExit().join();
        RUNNING.remove(this);
    }

    /** It keeps its connections, and accepts more, but answers nothing. */
    public void hang() {
        signal("STOP");
    }

    public void goOn() {
        signal("CONT");
    }

    private void signal(String signal) {
        try {
            Process kill = new ProcessBuilder("kill", "-" + signal, Long.toString(process.pid()))
                    .inheritIO()
                    .start();
            if (kill.onExit().join().exitValue() != 0) {
                throw new IllegalStateException("kill -" + signal + " failed");
            }
        } catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    @Override
    public void close() {
        kill();
        try {
            FileSystemUtils.deleteRecursively(directory);
        } catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }
}
