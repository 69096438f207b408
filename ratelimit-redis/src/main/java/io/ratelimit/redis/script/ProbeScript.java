package io.ratelimit.redis.script;

import io.ratelimit.RateLimit;
import io.ratelimit.spi.Charge;
import java.nio.charset.StandardCharsets;
import java.util.List;

/**
 * Decides for a bucket that no caller uses: if it succeeds, calls succeed, including writes. The bucket expires after a
 * millisecond.
 */
public final class ProbeScript {

    private static final Charge CHARGE =
            new Charge(RateLimit.named("probe").rate("1000/s").build(), null, 1);

    private final String prefix;

    private final byte[][] arguments;

    public ProbeScript(String prefix, ScriptCodec codec) {
        this.prefix = prefix;
        this.arguments = codec.arguments(ScriptCall.CHARGE, List.of(CHARGE));
    }

    /** Returns the keys, which no bucket has, because no limit can have this name. */
    public List<byte[]> names(String tag) {
        return List.of((prefix + ":{" + tag + "}:%probe").getBytes(StandardCharsets.US_ASCII));
    }

    public byte[][] arguments() {
        return arguments;
    }
}
