package io.ratelimit.testing.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.DisabledIf;

/** A test that talks to the server of another one fails for no reason of its own. */
@Timeout(180)
class RedisProcessTests {

    @Test
    void portsOfAJvmAreNoOthers() throws IOException {
        try (ServerSocket one = FreePorts.claim(0);
                ServerSocket other = FreePorts.claim(0)) {
            assertThat(Math.abs(one.getLocalPort() - other.getLocalPort())).isGreaterThanOrEqualTo(500);
        }
        int first = FreePorts.next();
        assertThat(FreePorts.next()).isBetween(first - 500, first + 500).isNotEqualTo(first);
    }

    @Test
    @DisabledIf(
            value = "io.ratelimit.testing.redis.RedisProcess#isBefore7",
            disabledReason = "has the bus of a cluster at a fixed distance")
    void busOfANodeHasAPortOfTheJvm() {
        try (RedisProcess node = RedisProcess.node()) {
            List<?> setting = (List<?>) node.send("CONFIG", "GET", "cluster-port");
            assertThat(Integer.parseInt(setting.get(1).toString())).isBetween(node.port() - 500, node.port() + 500);
        }
    }

    /** Such as one that was started by chance while this one was away. */
    @Test
    void answerOfAnotherServerIsNone() throws IOException {
        try (RedisProcess redis = RedisProcess.server()) {
            redis.kill();
            try (ServerSocket other = new ServerSocket(redis.port(), 10, InetAddress.getLoopbackAddress())) {
                Thread answers = new Thread(() -> answer(other), "other-server");
                answers.setDaemon(true);
                answers.start();
                redis.start();
                assertThatThrownBy(redis::awaitAnswer)
                        .isInstanceOf(IllegalStateException.class)
                        .hasMessageContaining("The server at " + redis.port() + " has ended");
            }
        }
    }

    private static void answer(ServerSocket server) {
        while (true) {
            try (Socket client = server.accept()) {
                client.getOutputStream().write("+PONG\r\n".getBytes(StandardCharsets.US_ASCII));
                client.getInputStream().readAllBytes();
            } catch (IOException ex) {
                return;
            }
        }
    }
}
