package io.ratelimit.internal.change;

import io.ratelimit.spi.Charge;
import io.ratelimit.spi.KeyDigest;
import java.util.function.BiConsumer;

/** Tells the other instances that permits were released for which a call waits. A lost message delays a call by a second. */
public final class ReleaseMessages {

    /** The name of the channel's topic. The message is the id of a limit and the digest of a key. */
    static final String TOPIC = "permits";

    private final ChangeChannel channel;

    public ReleaseMessages(ChangeChannel channel) {
        this.channel = channel;
    }

    /** Sends a message about the bucket of a charge that was released. */
    public void send(Charge released) {
        String key = released.key();
        channel.send(TOPIC, released.limit().id() + " " + KeyDigest.of(key == null ? "" : key));
    }

    /**
     * Receives the messages of other instances.
     *
     * @param receiver receives the id of the limit and the digest of the key
     */
    public void subscribe(BiConsumer<String, String> receiver) {
        channel.subscribe(TOPIC, message -> {
            String[] words = message.split(" ", 2);
            if (words.length == 2) {
                receiver.accept(words[0], words[1]);
            }
        });
    }
}
