package io.ratelimit.redis;

import java.nio.charset.StandardCharsets;
import java.util.List;
import org.springframework.data.redis.core.RedisCallback;
import org.springframework.data.redis.core.StringRedisTemplate;

/** A log as it is in Redis: blocks behind the text of the sections. */
final class PackedLog {

    private static final int START_BYTES = 7;

    private static final int ENTRY_BYTES = 10;

    private PackedLog() {}

    static List<byte[]> blocks(StringRedisTemplate commands, String key) {
        return commands.execute((RedisCallback<List<byte[]>>)
                connection -> connection.listCommands().lRange(key.getBytes(StandardCharsets.US_ASCII), 1, -1));
    }

    static int entries(byte[] block) {
        return (block.length - START_BYTES) / ENTRY_BYTES;
    }
}
