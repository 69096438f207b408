package io.ratelimit.redis;

import java.util.List;
import java.util.stream.Stream;

/** Names the clock that scripts have their time from. */
public enum RedisClock {

    /** The clock of the Redis server, which each script reads by {@code TIME}: clocks of instances do not matter. */
    SERVER,

    /**
     * The clock of the instance that sends the script, for servers that refuse {@code TIME}. Where clocks of instances differ, limits
     * admit more, as much as comes back in the difference.
     */
    INSTANCE;

    /** Returns the parts of the library. */
    List<String> parts() {
        return this == SERVER
                ? RateLimitScript.PARTS
                : Stream.concat(RateLimitScript.PARTS.stream(), Stream.of("instance_clock.lua"))
                        .toList();
    }
}
