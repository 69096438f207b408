package io.ratelimit.redis;

import io.ratelimit.Charge;
import io.ratelimit.Internal;
import io.ratelimit.RateLimit;
import java.nio.charset.StandardCharsets;
import java.util.List;

/**
 * A decision that is nobody's: what succeeds with it would succeed with a caller's, writing included. Its bucket is gone
 * after a millisecond.
 */
@Internal
public final class ProbeScript {

    private static final Charge CHARGE =
            new Charge(RateLimit.named("probe").rate("1000/s").build(), null, 1);

    private final String prefix;

    private final byte[][] arguments;

    public ProbeScript(String prefix, ScriptCodec language) {
        this.prefix = prefix;
        this.arguments = language.arguments(ScriptCall.CHARGE, List.of(CHARGE));
    }

    /** No bucket has this name: no limit can be called so. */
    public List<byte[]> names(String tag) {
        return List.of((prefix + ":{" + tag + "}:%probe").getBytes(StandardCharsets.US_ASCII));
    }

    public byte[][] arguments() {
        return arguments;
    }
}
