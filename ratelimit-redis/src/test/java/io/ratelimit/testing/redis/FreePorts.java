package io.ratelimit.testing.redis;

import java.io.IOException;
import java.net.ServerSocket;
import java.util.concurrent.atomic.AtomicInteger;

/** Ports for servers: no client takes them meanwhile, nor another JVM with such tests. */
public final class FreePorts {

    /** Below the ports that systems give to clients. */
    private static final int FIRST = 10_000;

    private static final int LAST = 29_999;

    private static final int OF_A_JVM = 500;

    private static final int JVMS = (LAST + 1 - FIRST) / OF_A_JVM;

    /**
     * Claims all ports of this JVM by the first of them, until the JVM ends. A port that was free a moment ago is no claim: a
     * server of another JVM could be there when that of this one starts, and be taken for it.
     */
    private static final ServerSocket CLAIM =
            claim((int) (ProcessHandle.current().pid() % JVMS));

    private static final AtomicInteger NEXT = new AtomicInteger();

    private FreePorts() {}

    static ServerSocket claim(int preferred) {
        for (int tried = 0; tried < JVMS; tried++) {
            try {
                return new ServerSocket(FIRST + OF_A_JVM * ((preferred + tried) % JVMS));
            } catch (IOException ex) {
                // They are those of another JVM.
            }
        }
        throw new IllegalStateException("No ports are free from " + FIRST + " to " + LAST);
    }

    public static int next() {
        int first = CLAIM.getLocalPort() + 1;
        for (int tried = 1; tried < OF_A_JVM; tried++) {
            int port = first + NEXT.getAndIncrement() % (OF_A_JVM - 1);
            if (isFree(port)) {
                return port;
            }
        }
        throw new IllegalStateException("No port is free from " + first + " on");
    }

    private static boolean isFree(int port) {
        try (ServerSocket socket = new ServerSocket(port)) {
            return socket.isBound();
        } catch (IOException ex) {
            return false;
        }
    }
}
