package io.ratelimit.testing.redis;

import java.io.IOException;
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
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.testcontainers.containers.GenericContainer;
import org.testcontainers.containers.wait.strategy.Wait;

/**
 * A real Redis for tests: the one that {@code RATELIMIT_TEST_REDIS} names ({@code host:port}), else a container of the image that
 * {@code RATELIMIT_TEST_REDIS_IMAGE} names, else a process of the executable that {@code RATELIMIT_TEST_REDIS_SERVER} names, else
 * any container where Docker runs, else the redis-server that Maven has brought. Tests share it, so each uses a key prefix of its
 * own. Without what the environment names, tests fail: they would tell nothing about it.
 */
public final class SharedRedis {

    private static final String VARIABLE = "RATELIMIT_TEST_REDIS";

    private static final String IMAGE_VARIABLE = "RATELIMIT_TEST_REDIS_IMAGE";

    private static final String DEFAULT_IMAGE = "redis:7.4-alpine";

    private final String host;

    private final int port;

    private SharedRedis(String host, int port) {
        this.host = host;
        this.port = port;
    }

    /** The one Redis of this JVM. */
    public static SharedRedis get() {
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
        return StartedConnections.to(host, port);
    }

    private static final class Shared {

        private static final SharedRedis REDIS = find();

        private static SharedRedis find() {
            return fromEnvironment()
                    .or(Shared::fromChosenImage)
                    .or(() -> RedisProcess.isChosen() ? Optional.of(started()) : fromDocker())
                    .orElseGet(Shared::started);
        }

        private static Optional<SharedRedis> fromChosenImage() {
            return Optional.ofNullable(System.getenv(IMAGE_VARIABLE))
                    .filter(image -> !image.isBlank())
                    .map(Shared::container);
        }

        private static Optional<SharedRedis> fromEnvironment() {
            return Optional.ofNullable(System.getenv(VARIABLE))
                    .filter(address -> !address.isBlank())
                    .map(address -> {
                        URI uri = URI.create("redis://" + address);
                        return found(uri.getHost(), uri.getPort(), "of the environment variable " + VARIABLE);
                    });
        }

        private static Optional<SharedRedis> fromDocker() {
            if (!DockerSocket.answers()) {
                return Optional.empty();
            }
            try {
                return Optional.of(container(DEFAULT_IMAGE));
            } catch (RuntimeException ex) {
                System.out.println("Redis under test: Docker runs, but not " + DEFAULT_IMAGE + ": " + ex.getMessage());
                return Optional.empty();
            }
        }

        /** Ryuk, or else the end of the JVM, stops it. */
        private static SharedRedis container(String image) {
            @SuppressWarnings("resource")
            GenericContainer<?> container = new GenericContainer<>(image)
                    .withExposedPorts(6379)
                    .waitingFor(Wait.forLogMessage(".*Ready to accept connections.*\\n", 1));
            container.start();
            Runtime.getRuntime().addShutdownHook(new Thread(container::stop));
            return found(container.getHost(), container.getMappedPort(6379), "in a container of " + image);
        }

        private static SharedRedis started() {
            // The end of the JVM stops it.
            @SuppressWarnings("resource")
            RedisProcess server = RedisProcess.server();
            return found(
                    RedisProcess.HOST,
                    server.port(),
                    RedisProcess.isChosen() ? "of the chosen redis-server" : "of the embedded redis-server");
        }

        private static SharedRedis found(String host, int port, String how) {
            System.out.println("Redis under test: " + host + ":" + port + " " + how);
            return new SharedRedis(host, port);
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
