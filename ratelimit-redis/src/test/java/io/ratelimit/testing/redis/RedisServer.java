package io.ratelimit.testing.redis;

import static org.awaitility.Awaitility.await;

import java.time.Duration;
import java.util.List;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/** A redis-server of a test's own, and the failures a test can cause. It loses no write, not even when it is killed. */
public final class RedisServer implements AutoCloseable {

    private static final int KEYS_TO_LOAD = 2_000;

    private static final String[] SETTINGS = {
        "appendonly yes",
        "appendfsync always",
        "lua-time-limit 1",
        "key-load-delay 1000",
        RedisProcess.isBefore7() ? "" : "loading-process-events-interval-bytes 1024"
    };

    private final RedisProcess process;

    /** A client that was there before the failure began, and still gets an answer. */
    private final RedisSocket before;

    private RedisSocket looping;

    private final LettuceConnectionFactory connections;

    public RedisServer() {
        this(SETTINGS);
    }

    private RedisServer(String[] settings) {
        process = RedisProcess.server(settings);
        before = new RedisSocket(process.port());
        looping = before;
        connections = StartedConnections.to(RedisProcess.HOST, process.port());
    }

    /** One that answers at once after a restart, however much was written before. */
    public static RedisServer loadingAtOnce() {
        return new RedisServer(new String[] {"appendonly yes", "appendfsync always"});
    }

    public int port() {
        return process.port();
    }

    /** The application's connections to it. */
    public LettuceConnectionFactory connections() {
        return connections;
    }

    /** What an application must be told to use it. */
    public List<String> properties() {
        return propertiesVia(process.port());
    }

    public static List<String> propertiesVia(int port) {
        return List.of("spring.data.redis.host=" + RedisProcess.HOST, "spring.data.redis.port=" + port);
    }

    public Object send(Object... command) {
        return process.send(command);
    }

    public void awaitAnswer() {
        process.awaitAnswer();
    }

    public void hang() {
        process.hang();
    }

    public void goOn() {
        process.goOn();
        awaitAnswer();
    }

    public void kill() {
        process.kill();
    }

    public void restart() {
        process.start();
        awaitAnswer();
    }

    /** And the functions. */
    public void forgetScripts() {
        send("FUNCTION", "FLUSH");
        send("SCRIPT", "FLUSH");
    }

    public void fill() {
        send("CONFIG", "SET", "maxmemory", 1);
    }

    public void drain() {
        send("CONFIG", "SET", "maxmemory", 0);
        awaitAnswer();
    }

    /** A replica, and so read-only. Its master is not there, so that it keeps what it has. */
    public void demote() {
        send("REPLICAOF", RedisProcess.HOST, 1);
    }

    public void promote() {
        send("REPLICAOF", "NO", "ONE");
        awaitAnswer();
    }

    /** It wants a password that no client has, and has forgotten all clients that were there. */
    public void lock() {
        before.send("CONFIG", "SET", "requirepass", "secret");
        before.send("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes");
    }

    public void unlock() {
        before.send("CONFIG", "SET", "requirepass", "");
        awaitAnswer();
    }

    /** Connected clients may not run scripts. */
    public void forbidScripts() {
        send("ACL", "SETUSER", "default", "-@scripting");
    }

    public void permitScripts() {
        send("ACL", "SETUSER", "default", "+@all");
        awaitAnswer();
    }

    /** Somebody else's script does not end. */
    public void loop() {
        looping = new RedisSocket(process.port());
        looping.start("EVAL", "while true do end", 0);
        await("BUSY").until(() -> !RedisSocket.answers(process.port()));
    }

    public void endLoop() {
        send("SCRIPT", "KILL");
        awaitAnswer();
        looping.close();
    }

    /** Restarts with all it knew, and much more. While it reads that, it answers that it is loading. */
    public void load() {
        send("EVAL", "for i = 1, " + KEYS_TO_LOAD + " do redis.call('SET', 'other:' .. i, i) end", 0);
        process.kill();
        process.start();
        await("LOADING").atMost(Duration.ofSeconds(60)).until(this::isLoading);
    }

    private boolean isLoading() {
        try {
            send("PING");
            return false;
        } catch (IllegalStateException ex) {
            return ex.getMessage().startsWith("LOADING");
        } catch (RuntimeException ex) {
            return false;
        }
    }

    @Override
    public void close() {
        connections.destroy();
        before.close();
        looping.close();
        process.close();
    }
}
