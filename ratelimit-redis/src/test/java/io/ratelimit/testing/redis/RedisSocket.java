package io.ratelimit.testing.redis;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/** A plain connection to a redis-server of this machine: no pool, no retry, no reconnect. */
final class RedisSocket implements AutoCloseable {

    private static final int PATIENCE_MILLIS = 30_000;

    private final Socket socket = new Socket();

    private final DataInputStream replies;

    RedisSocket(int port) {
        this(port, PATIENCE_MILLIS);
    }

    private RedisSocket(int port, int patienceMillis) {
        try {
            socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), patienceMillis);
            socket.setSoTimeout(patienceMillis);
            replies = new DataInputStream(new BufferedInputStream(socket.getInputStream()));
        } catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    /** On a connection of its own. */
    static Object send(int port, Object... command) {
        try (RedisSocket line = new RedisSocket(port)) {
            return line.send(command);
        }
    }

    /** Whether it says PONG, and soon; an error reply is none. */
    static boolean answers(int port) {
        try (RedisSocket line = new RedisSocket(port, 200)) {
            return line.send("PING").equals("PONG");
        } catch (RuntimeException ex) {
            return false;
        }
    }

    /** Whether the server with this process answers, and soon. Another one may have the port, while this one finds out and ends. */
    static boolean answers(int port, long process) {
        try (RedisSocket line = new RedisSocket(port, 200)) {
            return line.send("PING").equals("PONG")
                    && line.send("INFO", "server").toString().contains("process_id:" + process + "\r");
        } catch (RuntimeException ex) {
            return false;
        }
    }

    /**
     * The reply: a string, a long or a list of such; {@code "nil"} for none.
     *
     * @throws IllegalStateException with an error reply
     */
    Object send(Object... command) {
        start(command);
        try {
            return read();
        } catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    /** Sends it, and leaves the reply where it is. */
    void start(Object... command) {
        ByteArrayOutputStream request = new ByteArrayOutputStream();
        write(request, "*" + command.length + "\r\n");
        for (Object word : command) {
            byte[] bytes = word.toString().getBytes(StandardCharsets.UTF_8);
            write(request, "$" + bytes.length + "\r\n");
            request.writeBytes(bytes);
            write(request, "\r\n");
        }
        try {
            socket.getOutputStream().write(request.toByteArray());
        } catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    private static void write(ByteArrayOutputStream request, String text) {
        request.writeBytes(text.getBytes(StandardCharsets.UTF_8));
    }

    private Object read() throws IOException {
        String line = readLine();
        String rest = line.substring(1);
        return switch (line.charAt(0)) {
            case '+' -> rest;
            case ':' -> Long.parseLong(rest);
            case '$' -> readText(Integer.parseInt(rest));
            case '*' -> readList(Integer.parseInt(rest));
            default -> throw new IllegalStateException(rest);
        };
    }

    private String readText(int length) throws IOException {
        if (length < 0) {
            return "nil";
        }
        byte[] text = new byte[length];
        replies.readFully(text);
        readLine();
        return new String(text, StandardCharsets.UTF_8);
    }

    private List<Object> readList(int length) throws IOException {
        List<Object> list = new ArrayList<>();
        for (int i = 0; i < length; i++) {
            list.add(read());
        }
        return list;
    }

    private String readLine() throws IOException {
        ByteArrayOutputStream line = new ByteArrayOutputStream();
        for (int next = replies.readUnsignedByte(); next != '\n'; next = replies.readUnsignedByte()) {
            line.write(next);
        }
        String text = line.toString(StandardCharsets.UTF_8);
        return text.substring(0, text.length() - 1);
    }

    @Override
    public void close() {
        try {
            socket.close();
        } catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }
}
