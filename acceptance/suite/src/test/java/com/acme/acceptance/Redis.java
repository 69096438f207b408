package com.acme.acceptance;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import redis.embedded.RedisExecProvider;

/** A redis-server on a port that it keeps when it is killed and started again. It forgets everything then. */
final class Redis {

    private static final String HOST = "127.0.0.1";

    private final int port = freePort();

    private Process process;

    static Redis start() {
        Redis redis = new Redis();
        Runtime.getRuntime().addShutdownHook(new Thread(() -> redis.process.destroyForcibly()));
        redis.restart();
        return redis;
    }

    String[] properties() {
        return properties("spring.data.redis");
    }

    String[] properties(String prefix) {
        return new String[] {prefix + ".host=" + HOST, prefix + ".port=" + port};
    }

    void kill() {
        process.destroyForcibly().onExit().join();
    }

    /** Lets it hang: it has connections and accepts new ones, and does not answer. */
    void pause() {
        signal("STOP");
    }

    void resume() {
        signal("CONT");
    }

    private void signal(String name) {
        try {
            new ProcessBuilder("kill", "-" + name, Long.toString(process.pid()))
                    .start()
                    .onExit()
                    .join();
        } catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    void restart() {
        try {
            process = new ProcessBuilder(
                            RedisExecProvider.defaultProvider().get().getPath(),
                            "--port",
                            Integer.toString(port),
                            "--bind",
                            HOST,
                            "--save",
                            "")
                    .redirectErrorStream(true)
                    .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                    .start();
        } catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
        Await.until("a Redis at " + port, this::accepts);
    }

    private boolean accepts() {
        try (Socket socket = new Socket(HOST, port)) {
            return socket.isConnected();
        } catch (IOException ex) {
            return false;
        }
    }

    private static int freePort() {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getByName(HOST))) {
            return socket.getLocalPort();
        } catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }
}
