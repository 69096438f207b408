package io.ratelimit.internal.change;

import io.ratelimit.RateLimit;
import io.ratelimit.spi.KeyDigest;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Tells the other instances about single buckets: the message is the id of a limit and the digest of a key.
 *
 * @param topic names the topic of the channel
 */
public record BucketMessages(ChangeChannel channel, String topic) {

    /** Permits were released for which a call waits. A lost message delays a call by a second. */
    public static final String RELEASED = "permits";

    /** A bucket was changed. */
    static final String CHANGED = "buckets";

    /** Sends a message about a bucket, and returns the digest of its key. */
    public String send(RateLimit limit, @Nullable String key) {
        String digest = KeyDigest.of(key == null ? "" : key);
        channel.send(topic, limit.id() + " " + digest);
        return digest;
    }

    /**
     * Receives the messages of other instances.
     *
     * @param receiver receives the id of the limit and the digest of the key
     */
    public void subscribe(BiConsumer<String, String> receiver) {
        channel.subscribe(topic, message -> {
            String[] words = message.split(" ", 2);
            if (words.length == 2) {
                receiver.accept(words[0], words[1]);
            }
        });
    }
}
