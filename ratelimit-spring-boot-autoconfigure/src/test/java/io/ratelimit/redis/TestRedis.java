package io.ratelimit.redis;

import java.io.IOException;
import java.net.ServerSocket;
import java.net.StandardProtocolFamily;
import java.net.URI;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.testcontainers.containers.GenericContainer;
import org.testcontainers.containers.wait.strategy.Wait;
import redis.embedded.RedisServer;

/**
 * A real Redis for tests: the one that {@code RATELIMIT_TEST_REDIS} names ({@code host:port}), else a container where
 * Docker runs, else the redis-server that Maven has brought. Tests share it, so each uses a key prefix of its own.
 */
public final class TestRedis {

    private static final String VARIABLE = "RATELIMIT_TEST_REDIS";

    private static final String IMAGE_VARIABLE = "RATELIMIT_TEST_REDIS_IMAGE";

    private static final String DEFAULT_IMAGE = "redis:7.4-alpine";

    private static final int PORTS_OF_A_JVM = 1_000;

    /** Below the ports that systems give to clients. Two JVMs that start together have different process ids. */
    private static final int FIRST_PORT =
            10_000 + PORTS_OF_A_JVM * (int) (ProcessHandle.current().pid() % 20);

    private static final AtomicInteger PORTS = new AtomicInteger();

    private final String host;

    private final int port;

    private TestRedis(String host, int port) {
        this.host = host;
        this.port = port;
    }

    /** The one Redis of this JVM. */
    public static TestRedis shared() {
        return Shared.REDIS;
    }

    public String host() {
        return host;
    }

    public int port() {
        return port;
    }

    /** A started connection factory, as Spring Boot would make it. */
    public LettuceConnectionFactory connect() {
        LettuceConnectionFactory connections = new LettuceConnectionFactory(host, port);
        connections.afterPropertiesSet();
        connections.start();
        return connections;
    }

    /** A redis-server of the test's own, to be stopped, stalled or killed. The test ends it. */
    public static RedisServer startOwn(int port) {
        RedisServer server = RedisServer.builder()
                .port(port)
                .bind("127.0.0.1")
                .setting("save \"\"")
                .setting("appendonly no")
                .build();
        server.start();
        return server;
    }

    /** Is taken by no client meanwhile, and by no other JVM of the build. */
    public static int freePort() {
        for (int tried = 0; tried < PORTS_OF_A_JVM; tried++) {
            int port = FIRST_PORT + PORTS.getAndIncrement() % PORTS_OF_A_JVM;
            if (isFree(port)) {
                return port;
            }
        }
        throw new IllegalStateException("No port is free from " + FIRST_PORT + " on");
    }

    private static boolean isFree(int port) {
        try (ServerSocket socket = new ServerSocket(port)) {
            return socket.isBound();
        } catch (IOException ex) {
            return false;
        }
    }

    private static final class Shared {

        private static final TestRedis REDIS = find();

        private static TestRedis find() {
            return fromEnvironment().or(Shared::fromDocker).orElseGet(Shared::embedded);
        }

        private static Optional<TestRedis> fromEnvironment() {
            return Optional.ofNullable(System.getenv(VARIABLE))
                    .filter(address -> !address.isBlank())
                    .map(address -> {
                        URI uri = URI.create("redis://" + address);
                        return found(uri.getHost(), uri.getPort(), "of the environment variable " + VARIABLE);
                    });
        }

        private static Optional<TestRedis> fromDocker() {
            if (!DockerSocket.answers()) {
                return Optional.empty();
            }
            String image = Optional.ofNullable(System.getenv(IMAGE_VARIABLE)).orElse(DEFAULT_IMAGE);
            try {
                // Ryuk, or else the end of the JVM, stops it.
                @SuppressWarnings("resource")
                GenericContainer<?> container = new GenericContainer<>(image)
                        .withExposedPorts(6379)
                        .waitingFor(Wait.forLogMessage(".*Ready to accept connections.*\\n", 1));
                container.start();
                Runtime.getRuntime().addShutdownHook(new Thread(container::stop));
                return Optional.of(
                        found(container.getHost(), container.getMappedPort(6379), "in a container of " + image));
            } catch (RuntimeException ex) {
                System.out.println("Redis under test: Docker runs, but not " + image + ": " + ex.getMessage());
                return Optional.empty();
            }
        }

        private static TestRedis embedded() {
            int port = freePort();
            RedisServer server = startOwn(port);
            Runtime.getRuntime().addShutdownHook(new Thread(server::stop));
            return found("127.0.0.1", port, "of the embedded redis-server");
        }

        private static TestRedis found(String host, int port, String how) {
            System.out.println("Redis under test: " + host + ":" + port + " " + how);
            return new TestRedis(host, port);
        }
    }

    /** Asks Docker's socket itself: Testcontainers can take minutes to find out that there is none. */
    static final class DockerSocket {

        private static final Path DEFAULT = Path.of("/var/run/docker.sock");

        private static final long PATIENCE_MILLIS = 500;

        private DockerSocket() {}

        static boolean answers() {
            String host = System.getenv("DOCKER_HOST");
            if (host != null && !host.startsWith("unix://")) {
                return true;
            }
            Path socket = host == null ? DEFAULT : Path.of(host.substring("unix://".length()));
            return Files.exists(socket) && ping(socket);
        }

        private static boolean ping(Path path) {
            try (SocketChannel channel = SocketChannel.open(StandardProtocolFamily.UNIX);
                    Selector selector = Selector.open()) {
                channel.connect(UnixDomainSocketAddress.of(path));
                channel.write(ByteBuffer.wrap("GET /_ping HTTP/1.0\r\n\r\n".getBytes(StandardCharsets.US_ASCII)));
                channel.configureBlocking(false);
                channel.register(selector, SelectionKey.OP_READ);
                if (selector.select(PATIENCE_MILLIS) == 0) {
                    return false;
                }
                ByteBuffer answer = ByteBuffer.allocate(64);
                channel.read(answer);
                return new String(answer.array(), StandardCharsets.US_ASCII).contains(" 200 ");
            } catch (IOException ex) {
                return false;
            }
        }
    }
}
