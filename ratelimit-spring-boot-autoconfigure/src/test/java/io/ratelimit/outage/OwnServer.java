package io.ratelimit.outage;

import static org.awaitility.Awaitility.await;

import java.time.Duration;
import java.util.List;

/** A redis-server of a test's own, and what can befall it. It loses no write, neither by a kill. */
final class OwnServer implements AutoCloseable {

    private static final int KEYS_TO_LOAD = 2_000;

    private static final String[] SETTINGS = {
        "appendonly yes",
        "appendfsync always",
        "busy-reply-threshold 1",
        "key-load-delay 1000",
        "loading-process-events-interval-bytes 1024"
    };

    private final RedisProcess process = RedisProcess.server(SETTINGS);

    /** Who was there before the trouble began, and still gets an answer. */
    private final RedisLine before = new RedisLine(process.port());

    private RedisLine looping = before;

    int port() {
        return process.port();
    }

    /** What an application must be told to use it. */
    List<String> properties() {
        return propertiesVia(process.port());
    }

    static List<String> propertiesVia(int port) {
        return List.of("spring.data.redis.host=" + RedisProcess.HOST, "spring.data.redis.port=" + port);
    }

    Object send(Object... command) {
        return process.send(command);
    }

    void awaitAnswer() {
        process.awaitAnswer();
    }

    void hang() {
        process.hang();
    }

    void goOn() {
        process.goOn();
        awaitAnswer();
    }

    void kill() {
        process.kill();
    }

    void restart() {
        process.start();
        awaitAnswer();
    }

    void forgetScripts() {
        send("SCRIPT", "FLUSH");
    }

    void fill() {
        send("CONFIG", "SET", "maxmemory", 1);
    }

    void drain() {
        send("CONFIG", "SET", "maxmemory", 0);
        awaitAnswer();
    }

    /** A replica, and so read-only. Its master is not there, so that it keeps what it has. */
    void demote() {
        send("REPLICAOF", RedisProcess.HOST, 1);
    }

    void promote() {
        send("REPLICAOF", "NO", "ONE");
        awaitAnswer();
    }

    /** It wants a password that nobody was told, and has forgotten all who were there. */
    void lock() {
        before.send("CONFIG", "SET", "requirepass", "secret");
        before.send("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes");
    }

    void unlock() {
        before.send("CONFIG", "SET", "requirepass", "");
        awaitAnswer();
    }

    /** Who is connected may not run scripts. */
    void forbidScripts() {
        send("ACL", "SETUSER", "default", "-@scripting");
    }

    void permitScripts() {
        send("ACL", "SETUSER", "default", "+@all");
        awaitAnswer();
    }

    /** Somebody else's script does not end. */
    void loop() {
        looping = new RedisLine(process.port());
        looping.start("EVAL", "while true do end", 0);
        await("BUSY").until(() -> !RedisLine.answers(process.port()));
    }

    void endLoop() {
        send("SCRIPT", "KILL");
        awaitAnswer();
        looping.close();
    }

    /** Restarts with all it knew, and much more. While it reads that, it answers that it is loading. */
    void load() {
        send("EVAL", "for i = 1, " + KEYS_TO_LOAD + " do redis.call('SET', 'other:' .. i, i) end", 0);
        process.kill();
        process.start();
        await("LOADING").atMost(Duration.ofSeconds(20)).until(this::isLoading);
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
        before.close();
        looping.close();
        process.close();
    }
}
