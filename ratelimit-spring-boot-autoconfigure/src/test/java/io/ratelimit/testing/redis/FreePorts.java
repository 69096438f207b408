package io.ratelimit.testing.redis;

import java.io.IOException;
import java.net.ServerSocket;
import java.util.concurrent.atomic.AtomicInteger;

/** Ports for servers: no client takes them meanwhile, nor another JVM of the build. */
public final class FreePorts {

    private static final int OF_A_JVM = 1_000;

    /** Below the ports that systems give to clients. Two JVMs that start together have different process ids. */
    private static final int FIRST =
            10_000 + OF_A_JVM * (int) (ProcessHandle.current().pid() % 20);

    private static final AtomicInteger NEXT = new AtomicInteger();

    private FreePorts() {}

    public static int next() {
        for (int tried = 0; tried < OF_A_JVM; tried++) {
            int port = FIRST + NEXT.getAndIncrement() % OF_A_JVM;
            if (isFree(port)) {
                return port;
            }
        }
        throw new IllegalStateException("No port is free from " + FIRST + " on");
    }

    private static boolean isFree(int port) {
        try (ServerSocket socket = new ServerSocket(port)) {
            return socket.isBound();
        } catch (IOException ex) {
            return false;
        }
    }
}
