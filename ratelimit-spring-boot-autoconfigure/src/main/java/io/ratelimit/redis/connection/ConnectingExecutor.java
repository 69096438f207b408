package io.ratelimit.redis.connection;

import java.util.Properties;

/** An executor that connects. What blocks here is for threads in the background. */
interface ConnectingExecutor extends RateLimitScriptExecutor {

    /** Connects, and makes the script known to the server, so that no call need. Blocks. */
    void prepare();

    /** What the server says about its memory; of a cluster, each name has that of its node before it. Blocks. */
    Properties memory();
}
