package io.ratelimit.internal.limiter;

import io.ratelimit.RateLimit;
import io.ratelimit.spi.Charge;
import java.lang.System.Logger.Level;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** Logs once for each limit that a call requests more permits than the capacity. */
final class ExcessivePermitsLog {

    private static final System.Logger logger = System.getLogger("io.ratelimit.capacity");

    private final Set<String> logged = ConcurrentHashMap.newKeySet();

    void warn(Charge charge) {
        RateLimit limit = charge.limit();
        // contains() takes no lock, unlike add().
        if (!logged.contains(limit.id()) && logged.add(limit.id())) {
            logger.log(
                    Level.WARNING,
                    "Limit ''{0}'' can never allow a call for {1} permits, because its capacity is {2}: raise "
                            + "ratelimit.limits.{0}.capacity, or let the call cost less; logged once for this limit",
                    limit.name(),
                    Long.toString(charge.permits()),
                    Long.toString(limit.capacity()));
        }
    }
}
